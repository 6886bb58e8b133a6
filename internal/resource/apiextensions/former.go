package apiextensions

import (
	"fmt"

	hubapi "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource"
)

// stored is the version in which kube-apiserver stores definitions, and which it serves no more.
var stored = resource.Version{
	Name: "v1beta1",
	New:  func() runtime.Object { return new(apiextensionsv1beta1.CustomResourceDefinition) },
	ToStorage: func(obj runtime.Object) (runtime.Object, error) {
		in, ok := obj.(*apiextensionsv1beta1.CustomResourceDefinition)
		if !ok {
			return nil, fmt.Errorf("not a CustomResourceDefinition of v1beta1: %T", obj)
		}
		var hub hubapi.CustomResourceDefinition
		if err := apiextensionsv1beta1.Convert_v1beta1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(in.DeepCopy(), &hub, nil); err != nil {
			return nil, err
		}
		var out apiextensionsv1.CustomResourceDefinition
		if err := apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(&hub, &out, nil); err != nil {
			return nil, err
		}
		return &out, nil
	},
}
