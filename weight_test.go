package fairlead_test

import (
	"go/types"
	"strings"
	"testing"
)

// weights limits, for types that many packages mention, the methods of instantiated generic types to which the fields,
// elements and signatures of all types on the way lead. The compiler compiles these methods in each package that mentions the
// type, and the linker reads all copies. When a control plane's options led to 4,369 methods, each test program with
// a control plane took eight seconds to compile for that alone. A field whose type is an interface or a function
// hides the types behind it.
var weights = map[string]int{
	"client.Client":                      70,
	"client.Recorder":                    70,
	"controller.Env":                     70,
	"informer.Set":                       70,
	"server.Server":                      320,
	"scheduler.Options":                  220,
	"scheduler.Scheduler":                0,
	"testenv.Env":                        220,
	"testenv.Options":                    220,
	"internal/controlplane.ControlPlane": 900,
	"internal/controlplane.Options":      900,
}

// TestWeights checks the weights.
func TestWeights(t *testing.T) {
	var paths []string
	for name := range weights {
		path, _, _ := strings.Cut(name, ".")
		paths = append(paths, module+"/"+path)
	}
	packages := exported(t, paths)
	for name, limit := range weights {
		path, typeName, _ := strings.Cut(name, ".")
		obj := packages[module+"/"+path].Scope().Lookup(typeName)
		if obj == nil {
			t.Errorf("weights has %s, which does not exist", name)
			continue
		}
		w := weighing{}
		w.add(obj.Type())
		if t.Logf("%-36s %5d methods", name, w.methods); w.methods > limit {
			t.Errorf("%s leads to %d methods of generic types, %d are allowed", name, w.methods, limit)
		}
	}
}

// weighing counts methods.
type weighing struct {
	seen    map[string]bool // named types
	methods int
}

func (w *weighing) add(t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		w.add(types.Unalias(t))
	case *types.Named:
		w.named(t)
	case *types.Struct:
		for f := range t.Fields() {
			w.add(f.Type())
		}
	case *types.Interface:
		for m := range t.Methods() {
			w.add(m.Type())
		}
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				w.add(v.Type())
			}
		}
	case *types.Map:
		w.add(t.Key())
		w.add(t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		w.add(t.Elem())
	}
}

func (w *weighing) named(t *types.Named) {
	name := types.TypeString(t, nil)
	if w.seen[name] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[name] = true
	if t.TypeArgs().Len() > 0 {
		w.methods += t.NumMethods()
	}
	for arg := range t.TypeArgs().Types() {
		w.add(arg)
	}
	w.add(t.Underlying())
	for m := range t.Methods() {
		w.add(m.Type())
	}
}
