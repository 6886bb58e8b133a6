package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"strings"
)

// document is a request whose content is the attack.
type document struct{ name, method, path, kind, body string }

// send makes each request, as mallory or as the administrator, and words the outcomes.
func send(asAdmin bool, documents ...document) func(context.Context, *server) string {
	return func(ctx context.Context, s *server) string {
		token, client := s.mallory, newClient(nil)
		if asAdmin {
			token, client = s.token, s.admin
		}
		var said []string
		for _, d := range documents {
			code, _, err := s.call(ctx, client, token, d.method, d.path, d.kind, []byte(d.body))
			switch {
			case ctx.Err() != nil:
				said = append(said, d.name+": nothing in time")
			case err != nil:
				said = append(said, d.name+": cut off")
			default:
				said = append(said, fmt.Sprintf("%s: %d", d.name, code))
			}
		}
		return strings.Join(said, ", ")
	}
}

const (
	asJSON  = "application/json"
	asYAML  = "application/yaml"
	asApply = "application/apply-patch+yaml"
	asPatch = "application/json-patch+json"

	dryRun      = configMaps + "?dryRun=All"
	applied     = configMaps + "/a?fieldManager=m&dryRun=All"
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All"
)

// deep nests documents.
func deep() []document {
	return []document{
		{"JSON", "POST", dryRun, asJSON, `{"metadata":{"name":"a"},"data":` + strings.Repeat("[", 1_400_000) + strings.Repeat("]", 1_400_000) + "}"},
		{"YAML", "POST", dryRun, asYAML, "metadata: {name: a}\ndata: " + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + "\n"},
		{"an applied one", "PATCH", applied, asApply, "metadata: {name: a}\ndata: " + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + "\n"},
	}
}

// laughs are YAML aliases that double in size at each level (a billion laughs).
func laughs() []document {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nl0: &l0 [lol, lol]\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&b, "l%d: &l%d [*l%d, *l%d]\n", i, i, i-1, i-1)
	}
	return []document{
		{"a create", "POST", dryRun, asYAML, b.String()},
		{"an apply", "PATCH", applied, asApply, b.String()},
	}
}

// odd are documents that parsers have stumbled over.
func odd() []document {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(bytes.Repeat([]byte(" "), 64<<20))
	z.Close()
	return []document{
		{"1e999999999", "POST", dryRun, asJSON, `{"metadata":{"name":"a","generation":1e999999999}}`},
		{"a million digits", "POST", dryRun, asJSON, `{"metadata":{"name":"a","generation":` + strings.Repeat("9", 1_000_000) + `}}`},
		{"invalid UTF-8", "POST", dryRun, asJSON, "{\"metadata\":{\"name\":\"a\"},\"data\":{\"a\":\"\xff\xfe\"}}"},
		{"NUL", "POST", dryRun, asJSON, "{\"metadata\":{\"name\":\"a\"},\"data\":{\"a\":\"\\u0000\"}}"},
		{"64 MB of gzip", "POST", dryRun, asJSON, zipped.String()},
		{"300,000 equal keys", "POST", dryRun, asJSON, `{"metadata":{"name":"a"},"data":{` + strings.Repeat(`"a":"",`, 300_000) + `"a":""}}`},
		{"10,001 operations", "PATCH", configMaps + "/fill-0?dryRun=All", asPatch, "[" + strings.Repeat(`{"op":"add","path":"/data/x","value":""},`, 10_000) + `{"op":"add","path":"/data/x","value":""}]`},
	}
}

// selectors are queries of many terms.
func selectors() []document {
	return []document{
		{"100,000 labels", "GET", configMaps + "?labelSelector=" + strings.Repeat("a!%3Db,", 100_000) + "c", asJSON, ""},
		{"40,000 fields", "GET", configMaps + "?fieldSelector=" + strings.Repeat("metadata.name!%3Da,", 40_000) + "metadata.name!%3Db", asJSON, ""},
	}
}

// schemas are definitions that cost more than they look like.
func schemas() []document {
	of := func(schema string) string {
		return `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + schema + `}}]}}`
	}
	nested := strings.Repeat(`{"type":"object","properties":{"a":`, 4900) + `{"type":"string"}` + strings.Repeat(`}}`, 4900)
	var wide strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&wide, `"p%d":{"type":"string"},`, i)
	}
	return []document{
		{"CEL without bounds", "POST", definitions, asJSON, of(`{"type":"object","properties":{"spec":{"type":"object","properties":{"l":{"type":"array","items":{"type":"array","items":{"type":"string"}},
			"x-kubernetes-validations":[{"rule":"self.all(a, self.all(b, a.all(x, b.all(y, x.matches(y)))))"}]}}}}}`)},
		{"(a{1000}){1000}", "POST", definitions, asJSON, of(`{"type":"object","properties":{"a":{"type":"string","pattern":"(a{1000}){1000}"}}}`)},
		{"4,900 levels", "POST", definitions, asJSON, of(nested)},
		{"30,000 properties", "POST", definitions, asJSON, of(`{"type":"object","properties":{` + wide.String() + `"a":{"type":"string"}}}`)},
	}
}

// cubic is a policy whose expression takes the cube of an object's keys, and such an object.
func cubic(ctx context.Context, s *server) string {
	const policy = `{"metadata":{"name":"cubic"},"spec":{"failurePolicy":"Fail","matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]},
		"validations":[{"expression":"object.data.all(a, object.data.all(b, object.data.all(c, a + b + c != '')))"}]}}`
	const binding = `{"metadata":{"name":"cubic"},"spec":{"policyName":"cubic","validationActions":["Deny"]}}`
	for path, body := range map[string]string{"validatingadmissionpolicies": policy, "validatingadmissionpolicybindings": binding} {
		if _, err := s.must(ctx, "POST", "/apis/admissionregistration.k8s.io/v1/"+path, body); err != nil {
			return err.Error()
		}
	}
	var keys strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&keys, `"k%d":"v",`, i)
	}
	body := []byte(`{"metadata":{"name":"a"},"data":{` + keys.String() + `"k":"v"}}`)
	said := ""
	for range 40 { // until the policy is in force
		if said = s.ask(ctx, s.mallory, "POST", dryRun, asJSON, body); !strings.HasPrefix(said, "201") {
			break
		}
	}
	return said
}
