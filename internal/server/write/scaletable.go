package write

import (
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/endpoint"
)

// scaleRows shows a Scale in a table, which no row of the resource table does:
// Scale is the kind of subresources alone.
var scaleRows = &endpoint.Endpoint{
	Resource: &resource.Resource{
		Kind: scaleKind.Kind,
		Columns: []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"]},
			{Name: "Desired", Type: "integer", Description: autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"]},
			{Name: "Available", Type: "integer", Description: autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]},
			{Name: "Age", Type: "string", Description: metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"]},
		},
		Row: func(obj runtime.Object) []any {
			s := obj.(*autoscalingv1.Scale)
			return []any{s.Name, int64(s.Spec.Replicas), int64(s.Status.Replicas), resource.AgeOf(s)}
		},
	},
	ServedVersion: &resource.Version{},
	ServedGVK:     scaleKind,
}

// answerScaleTable answers with a table of one Scale.
func (c *Operation) answerScaleTable(s *autoscalingv1.Scale) error {
	f, err := c.Representation()
	if err != nil {
		return err
	}
	f.Endpoint = scaleRows
	row, err := f.Encode(s)
	if err != nil {
		return err
	}
	body, err := f.Body(row, s.ResourceVersion)
	if err != nil {
		return err
	}
	return c.WriteBytes(http.StatusOK, f.Media.String(), body)
}
