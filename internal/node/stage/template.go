package stage

import (
	"bytes"
	"encoding/json"
	"fmt"
	template "github.com/DataDog/datadog-agent/pkg/template/text"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// Funcs are functions of templates that the caller implements.
type Funcs = template.FuncMap

// unknown stands in for the caller's functions when a template is parsed.
var unknown = Funcs{
	"Version": none, "NodeIP": none, "NodeName": none, "NodePort": none, "PodIP": none,
	"NodeIPWith": none, "NodeIPsWith": none, "PodIPWith": none, "PodIPsWith": none,
}

func none(...any) (any, error) { return nil, fmt.Errorf("there is no such function for this kind") }

var general = Funcs{
	"Quote":     quote,
	"Now":       func() string { return time.Now().Format(time.RFC3339Nano) },
	"StartTime": func() string { return began.Format(time.RFC3339Nano) },
	"YAML":      toYAML,
	"NodeConditions": func() any {
		return []any{
			nodeCondition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
			nodeCondition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
			nodeCondition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
			nodeCondition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
			nodeCondition("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
		}
	},
	// Of sprig's.
	"dict":     dict,
	"list":     func(v ...any) []any { return v },
	"default":  func(d, v any) any { return pick(v, d) },
	"coalesce": pick,
	"ternary": func(yes, no any, ok bool) any {
		if ok {
			return yes
		}
		return no
	},
	"hasKey":    func(m map[string]any, k string) bool { _, ok := m[k]; return ok },
	"toString":  func(v any) string { return fmt.Sprint(v) },
	"quote":     func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
	"upper":     strings.ToUpper,
	"lower":     strings.ToLower,
	"trim":      strings.TrimSpace,
	"contains":  func(part, s string) bool { return strings.Contains(s, part) },
	"hasPrefix": func(prefix, s string) bool { return strings.HasPrefix(s, prefix) },
	"hasSuffix": func(suffix, s string) bool { return strings.HasSuffix(s, suffix) },
	"replace":   func(old, new, s string) string { return strings.ReplaceAll(s, old, new) },
	"add":       func(a, b any) (int64, error) { return arithmetic(a, b, func(a, b int64) int64 { return a + b }) },
	"sub":       func(a, b any) (int64, error) { return arithmetic(a, b, func(a, b int64) int64 { return a - b }) },
	"add1":      func(a any) (int64, error) { return arithmetic(a, 1, func(a, b int64) int64 { return a + b }) },
	"int":       func(a any) (int64, error) { return arithmetic(a, 0, func(a, b int64) int64 { return a + b }) },
	"toJson": func(v any) (string, error) {
		text, err := json.Marshal(v)
		return string(text), err
	},
}

func nodeCondition(t, status, reason, message string) map[string]any {
	return map[string]any{"type": t, "status": status, "reason": reason, "message": message}
}

// quote returns a value as a JSON string, which is YAML too.
func quote(v any) string {
	text, err := json.Marshal(v)
	if err != nil || len(text) == 0 || text[0] != '"' {
		return strconv.Quote(string(text))
	}
	return string(text)
}

func toYAML(v any, indent ...int) (string, error) {
	text, err := yaml.Marshal(v)
	if err != nil || len(indent) == 0 || indent[0] <= 0 {
		return string(text), err
	}
	return strings.ReplaceAll("\n"+string(text), "\n", "\n"+strings.Repeat("  ", indent[0])), nil
}

func dict(kv ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(kv); i += 2 {
		m[fmt.Sprint(kv[i])] = kv[i+1]
	}
	return m
}

// pick returns the first value that is not empty.
func pick(values ...any) any {
	for _, v := range values {
		if ok, _ := template.IsTrue(v); ok {
			return v
		}
	}
	return nil
}

func arithmetic(a, b any, f func(a, b int64) int64) (int64, error) {
	x, err := strconv.ParseInt(fmt.Sprint(a), 10, 64)
	if err != nil {
		return 0, err
	}
	y, err := strconv.ParseInt(fmt.Sprint(b), 10, 64)
	return f(x, y), err
}

func parseTemplate(text string) (*template.Template, error) {
	return template.New("template").Funcs(general).Funcs(unknown).Parse(strings.TrimSpace(text))
}

// render executes a template that yields YAML, and returns JSON.
func render(t *template.Template, o *Object, f Funcs) ([]byte, error) {
	t, err := t.Clone() // whose functions are those of this object
	if err != nil {
		return nil, err
	}
	var data any
	d := json.NewDecoder(bytes.NewReader(o.text))
	d.UseNumber()
	if err := d.Decode(&data); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Funcs(f).Execute(&out, data); err != nil {
		return nil, err
	}
	text, err := yaml.YAMLToJSON(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%w in\n%s", err, out.Bytes())
	}
	return text, nil
}
