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
