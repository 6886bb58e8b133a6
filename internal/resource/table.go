package resource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Table is the table of a kind.
type Table struct {
	Columns []metav1.TableColumnDefinition
	Row     func(obj runtime.Object) []any
}

// TableOf returns a table whose rows come from objects of type T.
func TableOf[T runtime.Object](row func(T) []any, columns ...metav1.TableColumnDefinition) Table {
	return Table{Columns: columns, Row: func(obj runtime.Object) []any { return row(obj.(T)) }}
}

// Columns of nearly every table.
var (
	NameColumn = metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name",
		Description: "The object's name, unique in its namespace or, for cluster-scoped kinds, in the cluster."}
	AgeColumn = metav1.TableColumnDefinition{Name: "Age", Type: "string",
		Description: "The time since the object was created."}
	ContainersColumn = WideOnly(Text("Containers", "Names of the containers in the template."))
	ImagesColumn     = WideOnly(Text("Images", "Images of the containers in the template."))
)

// Text returns a column of strings.
func Text(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: description}
}

// Integer returns a column of integers.
func Integer(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "integer", Description: description}
}

// Boolean returns a column of booleans.
func Boolean(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "boolean", Description: description}
}

// WideOnly makes a column one that is only shown in wide output.
func WideOnly(c metav1.TableColumnDefinition) metav1.TableColumnDefinition {
	c.Priority = 1
	return c
}

// CreatedColumn replaces the age in the tables of kinds without columns of their own: it holds the time itself.
var CreatedColumn = metav1.TableColumnDefinition{Name: "Created At", Type: "date",
	Description: "The time at which the object was created."}

// CreatedAt returns the cell of the Created At column.
func CreatedAt(obj metav1.Object) string {
	return obj.GetCreationTimestamp().UTC().Format("2006-01-02T15:04:05Z")
}
