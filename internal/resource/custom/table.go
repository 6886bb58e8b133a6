package custom

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/jsonpath"

	"fairlead.dev/internal/resource"
)

// ageColumn is the column of a version without columns, beside the name.
var ageColumn = apiextensionsv1.CustomResourceColumnDefinition{
	Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp",
	Description: metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"],
}

// newTable returns the table of a version.
func newTable(d *apiextensionsv1.CustomResourceDefinitionVersion) resource.Table {
	asked := d.AdditionalPrinterColumns
	if len(asked) == 0 {
		asked = []apiextensionsv1.CustomResourceColumnDefinition{ageColumn}
	}
	columns := []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"]}}
	for i, c := range asked {
		if parse(c.JSONPath) == nil { // skips the columns after it too, as upstream
			asked = asked[:i]
			break
		}
		if c.Description == "" {
			c.Description = "Custom resource definition column (in JSONPath format): " + c.JSONPath
		}
		columns = append(columns, metav1.TableColumnDefinition{Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority})
	}
	// A parsed path may be used by one goroutine at a time.
	pool := sync.Pool{New: func() any {
		paths := make([]*jsonpath.JSONPath, len(asked))
		for i, c := range asked {
			paths[i] = parse(c.JSONPath)
		}
		return &paths
	}}
	below := !slices.ContainsFunc(asked, func(c apiextensionsv1.CustomResourceColumnDefinition) bool { return showsRecord(c.JSONPath) })
	return resource.TableOf(func(u *resource.Untyped) []any {
		paths := pool.Get().(*[]*jsonpath.JSONPath)
		defer pool.Put(paths)
		object := u.Object
		if !below {
			object = u.UnstructuredContent()
		}
		cells := append(make([]any, 0, len(columns)), u.GetName())
		for i, p := range *paths {
			cells = append(cells, cellValue(p, asked[i].Type, object))
		}
		return cells
	}, columns...)
}

// showsRecord reports whether a column may read the managed fields, which are kept beside the object.
func showsRecord(path string) bool {
	top, below, _ := strings.Cut(strings.TrimPrefix(path, "."), ".")
	below, _, _ = strings.Cut(below, ".")
	return !simple.MatchString(top) || top == "metadata" && (!simple.MatchString(below) || below == "managedFields")
}

// simple matches a path step to one member.
var simple = regexp.MustCompile(`^[A-Za-z]+$`)

func parse(path string) *jsonpath.JSONPath {
	p := jsonpath.New("column").AllowMissingKeys(true)
	if p.Parse("{"+path+"}") != nil {
		return nil
	}
	return p
}

// cellValue returns the value of a column, or nil.
func cellValue(p *jsonpath.JSONPath, columnType string, object map[string]any) any {
	found, err := p.FindResults(object)
	if err != nil || len(found) == 0 || len(found[0]) == 0 {
		return nil
	}
	value := found[0][0].Interface()
	if columnType == "string" {
		var b bytes.Buffer
		if p.PrintResults(&b, []reflect.Value{reflect.ValueOf(value)}) != nil {
			return nil
		}
		return b.String()
	}
	return columnValue(columnType, value)
}

func columnValue(columnType string, value any) any {
	switch columnType {
	case "integer":
		switch n := value.(type) {
		case int64:
			return n
		case float64:
			return int64(n)
		}
	case "number":
		switch n := value.(type) {
		case int64:
			return float64(n)
		case float64:
			return n
		}
	case "boolean":
		if b, ok := value.(bool); ok {
			return b
		}
	case "date":
		if text, ok := value.(string); ok {
			var t metav1.Time
			if t.UnmarshalQueryParameter(text) != nil {
				return "<invalid>"
			}
			return resource.Since(t)
		}
	}
	return nil
}
