package client_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
)

func read(t *testing.T, o client.Options, contentType string, body io.Reader) (string, error) {
	t.Helper()
	c, _ := scripted(t, o, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.Copy(w, body)
	})
	w, err := client.For[*corev1.Pod](c).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for ev, err := range w.Events(ctx) {
		if err != nil {
			if _, again := w.Next(ctx); again != err {
				t.Errorf("Next after the end: %v, was %v", again, err)
			}
			return strings.Join(got, " "), err
		}
		got = append(got, fmt.Sprintf("%s:%s:%s@%s", ev.Type, ev.Object.Kind, ev.Object.Name, ev.Object.ResourceVersion))
	}
	panic("the watch ended without an error")
}

func TestWatchFrames(t *testing.T) {
	const a = `{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}` + "\n"
	const b = `{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"2"}}}` + "\n"
	long := `{"type":"MODIFIED","object":{"metadata":{"name":"` + strings.Repeat("x", 100<<10) + `","resourceVersion":"3"}}}` + "\n"
	longWant := "MODIFIED:Pod:" + strings.Repeat("x", 100<<10) + "@3"
	expired := `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old","reason":"Expired","code":410}}` + "\n"
	isEOF := func(err error) bool { return err == io.EOF }
	isCut := func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }
	for name, c := range map[string]struct {
		stream, want string
		end          func(error) bool
	}{
		"plain":          {a + b, "ADDED:Pod:a@1 BOOKMARK:Pod:@2", isEOF},
		"no last line":   {a + strings.TrimSpace(b), "ADDED:Pod:a@1 BOOKMARK:Pod:@2", isEOF},
		"empty lines":    {"\n" + a + "\r\n\n" + b, "ADDED:Pod:a@1 BOOKMARK:Pod:@2", isEOF},
		"long":           {a + long + b, "ADDED:Pod:a@1 " + longWant + " BOOKMARK:Pod:@2", isEOF},
		"other order":    {`{"object":{"metadata":{"name":"a","resourceVersion":"1"}},"type":"ADDED"}` + "\n", "ADDED:Pod:a@1", isEOF},
		"spread":         {"{\n \"type\": \"ADDED\",\n \"object\": {\n  \"metadata\": {\"name\": \"a\", \"resourceVersion\": \"1\"}\n }\n}\n" + b, "ADDED:Pod:a@1 BOOKMARK:Pod:@2", isEOF},
		"cut":            {a + b[:30], "ADDED:Pod:a@1", isCut},
		"cut in a long":  {a + long[:70<<10], "ADDED:Pod:a@1", isCut},
		"expired":        {a + expired + b, "ADDED:Pod:a@1", apierrors.IsResourceExpired},
		"no JSON":        {a + "<html>\n", "ADDED:Pod:a@1", func(err error) bool { return err != nil && err != io.EOF }},
		"unknown type":   {a + `{"type":"X","object":{}}` + "\n", "ADDED:Pod:a@1", func(err error) bool { return strings.Contains(err.Error(), "X") }},
		"broken object":  {a + `{"type":"ADDED","object":{"metadata":{"name"}}}` + "\n", "ADDED:Pod:a@1", func(err error) bool { return err != nil && err != io.EOF }},
		"nothing at all": {"", "", isEOF},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(t, client.Options{}, client.ContentTypeJSON, strings.NewReader(c.stream))
			if got != c.want || !c.end(err) {
				t.Errorf("%.200s, %v\nwant %.200s", got, err, c.want)
			}
			if got, _ := read(t, client.Options{}, client.ContentTypeJSON, iotest.OneByteReader(strings.NewReader(c.stream))); got != c.want {
				t.Errorf("byte by byte: %.200s", got)
			}
		})
	}
}

func TestWatchProtobuf(t *testing.T) {
	inner := protobuf.NewSerializer(client.Scheme, client.Scheme)
	var stream bytes.Buffer
	frame := func(typ string, obj runtime.Object) {
		var b bytes.Buffer
		if err := inner.Encode(obj, &b); err != nil {
			t.Fatal(err)
		}
		ev := metav1.WatchEvent{Type: typ, Object: runtime.RawExtension{Raw: b.Bytes()}}
		raw, err := ev.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		binary.Write(&stream, binary.BigEndian, uint32(len(raw)))
		stream.Write(raw)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1"}}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	frame("ADDED", pod)
	frame("DELETED", pod)
	st := apierrors.NewResourceExpired("too old").Status()
	st.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Status"})
	whole := stream.Len()
	frame("ERROR", &st)
	all := stream.Bytes()

	const ct = "application/vnd.kubernetes.protobuf;stream=watch"
	got, err := read(t, client.Options{ContentType: client.ContentTypeProtobuf}, ct, bytes.NewReader(all))
	if got != "ADDED:Pod:a@1 DELETED:Pod:a@1" || !apierrors.IsResourceExpired(err) {
		t.Errorf("%s, %v", got, err)
	}
	got, err = read(t, client.Options{ContentType: client.ContentTypeProtobuf}, ct, bytes.NewReader(all[:whole-3]))
	if got != "ADDED:Pod:a@1" || err != io.ErrUnexpectedEOF {
		t.Errorf("cut: %s, %v", got, err)
	}
}

// TestMore: More is true while a whole event is at hand, and false when one would have to
// wait for it, or for the rest of it.
func TestMore(t *testing.T) {
	const line = `{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}` + "\n"
	pod, err := (&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1"}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: pod}
	object, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	event := metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: append([]byte("k8s\x00"), object...)}}
	raw, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	frame := string(binary.BigEndian.AppendUint32(nil, uint32(len(raw)))) + string(raw)
	for ct, whole := range map[string]string{client.ContentTypeJSON: line, "application/vnd.kubernetes.protobuf;stream=watch": frame} {
		for _, rest := range []string{"", whole[:3], whole[:len(whole)-2]} {
			c, _ := scripted(t, client.Options{ContentType: client.ContentTypeProtobuf}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", ct)
				io.WriteString(w, whole+whole+rest)
			})
			w, err := client.For[*corev1.Pod](c).Watch(ctx, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []bool{true, false} {
				ev, err := w.Next(ctx)
				if err != nil || ev.Object.Name != "a" || w.More() != want {
					t.Errorf("%s and %d bytes: %v, %v, more %v, want %v", ct, len(rest), ev, err, w.More(), want)
				}
			}
		}
	}
}

// TestWatchStops asks that a Next which waits returns when either context ends and when
// Stop is called, over a real connection.
func TestWatchStops(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1" {
			io.WriteString(w, `{"resources":[{"name":"pods","kind":"Pod","namespaced":true}]}`)
			return
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	c, err := client.New(&rest.Config{Host: srv.URL, Timeout: 1}, client.Options{}) // 1 ns: for others, not for watches
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*corev1.Pod](c).List(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a list outlived its timeout: %v", err)
	}
	if c, err = client.New(&rest.Config{Host: srv.URL}, client.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"watch", "next", "stop"} {
		t.Run(how, func(t *testing.T) {
			wctx, wcancel := context.WithCancel(t.Context())
			nctx, ncancel := context.WithCancel(t.Context())
			defer wcancel()
			defer ncancel()
			w, err := client.For[*corev1.Pod](c).Watch(wctx, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() {
				_, err := w.Next(nctx)
				ended <- err
			}()
			map[string]func(){"watch": wcancel, "next": ncancel, "stop": w.Stop}[how]()
			if err := <-ended; err == nil || how != "stop" && err != context.Canceled {
				t.Errorf("ended with %v", err)
			}
		})
	}
}
