package represent

import (
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// row makes the table row of an object of the hub version.
func (f *Representation) row(obj runtime.Object) ([]byte, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	row := metav1.TableRow{}
	if f.Endpoint.Row != nil {
		row.Cells = f.Endpoint.Row(obj)
	} else {
		row.Cells = []any{m.GetName(), m.GetCreationTimestamp().UTC().Format(time.RFC3339)}
	}
	var carry runtime.Object
	switch f.include {
	case metav1.IncludeMetadata:
		carry, err = f.Partial(obj)
	case metav1.IncludeObject:
		carry, err = f.Endpoint.Convert(obj)
	}
	if err == nil && carry != nil {
		row.Object.Raw, err = json.Marshal(carry)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(row)
}

// AppendTableHead begins a table, up to its first row.
func (f *Representation) AppendTableHead(dst []byte, m ListMeta, columns bool) []byte {
	dst = append(dst, `{"kind":"Table","apiVersion":"`...)
	dst = append(dst, f.MetaAPIVersion()...)
	dst = append(dst, `","metadata":`...)
	dst = m.appendJSON(dst)
	dst = append(dst, `,"columnDefinitions":`...)
	if columns {
		text, err := json.Marshal(f.Endpoint.TableColumns())
		if err != nil {
			panic(err) // strings and numbers only
		}
		dst = append(dst, text...)
	} else {
		dst = append(dst, "null"...)
	}
	return append(dst, `,"rows":[`...)
}

// checkInclude refuses an unknown includeObject policy.
func checkInclude(p metav1.IncludeObjectPolicy) error {
	switch p {
	case metav1.IncludeNone, metav1.IncludeMetadata, metav1.IncludeObject:
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", p))
}
