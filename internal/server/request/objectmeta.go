package request

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SettleNamespace gives the object the namespace of the path, and refuses an object of another
// one.
func SettleNamespace(m metav1.Object, namespace string) error {
	switch m.GetNamespace() {
	case namespace:
	case "":
		m.SetNamespace(namespace)
	default:
		if namespace != "" {
			return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
		}
		m.SetNamespace("")
	}
	return nil
}

// CheckName refuses an object whose name is not that of the path.
func CheckName(m metav1.Object, name string) error {
	if m.GetName() == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", name))
	}
	if m.GetName() != name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", m.GetName(), name))
	}
	return nil
}
