package resource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Table is how a kind looks in a list for people.
type Table struct {
	Columns []metav1.TableColumnDefinition
	Row     func(obj runtime.Object) []any
}

// TableOf is a table whose rows come from objects of type T.
func TableOf[T runtime.Object](row func(T) []any, columns ...metav1.TableColumnDefinition) Table {
	return Table{Columns: columns, Row: func(obj runtime.Object) []any { return row(obj.(T)) }}
}

// The columns that nearly every table has.
var (
	NameColumn = metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name",
		Description: "The object's name, unique in its namespace or, for cluster-scoped kinds, in the cluster."}
	AgeColumn = metav1.TableColumnDefinition{Name: "Age", Type: "string",
		Description: "The time since the object was created."}
	ContainersColumn = Wide(Text("Containers", "Names of the containers in the template."))
	ImagesColumn     = Wide(Text("Images", "Images of the containers in the template."))
)

// Text is a column of strings.
func Text(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: description}
}

// Integer is a column of whole numbers.
func Integer(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "integer", Description: description}
}

// Boolean is a column of truth values.
func Boolean(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "boolean", Description: description}
}

// Wide marks a column as one that is shown only when asked for.
func Wide(c metav1.TableColumnDefinition) metav1.TableColumnDefinition {
	c.Priority = 1
	return c
}

// CreatedColumn takes the place of the age in the tables of kinds that have no
// columns of their own: it holds the time itself.
var CreatedColumn = metav1.TableColumnDefinition{Name: "Created At", Type: "date",
	Description: "The time at which the object was created."}

// CreatedAt is the cell of the Created At column.
func CreatedAt(obj metav1.Object) string {
	return obj.GetCreationTimestamp().UTC().Format("2006-01-02T15:04:05Z")
}
