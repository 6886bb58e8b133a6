package autoscaling

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
)

func toV2(runtime.Object) (runtime.Object, error)   { return nil, errors.New("not converted") }
func fromV2(runtime.Object) (runtime.Object, error) { return nil, errors.New("not converted") }
