package dynamic

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/admission"
)

// Rounds decides which webhooks or policies of a mutator are reinvoked: those that allow reinvocation and were
// invoked before a change of the object. Those not invoked in the first run are not invoked in the second.
type Rounds struct {
	may, will map[string]bool
	last      runtime.Object // as this plugin left it
}

// Begin is called at the start of the plugin's run. Changes by other plugins since its previous run count as
// changes of the object.
func (x *Rounds) Begin(r *admission.Request) {
	if r.SecondRun() && !equality.Semantic.DeepEqual(x.last, r.Object) {
		x.require()
	}
}

// End is called at the end of the plugin's run.
func (x *Rounds) End(r *admission.Request) {
	if x.last = nil; r.Object != nil {
		x.last = r.Object.DeepCopyObject()
	}
}

// Asks reports whether the one with the id is invoked in this run.
func (x *Rounds) Asks(r *admission.Request, id string) bool { return !r.SecondRun() || x.will[id] }

// MayAskAgain records that the one with the id was invoked and allows reinvocation.
func (x *Rounds) MayAskAgain(id string) {
	if x.may == nil {
		x.may = map[string]bool{}
	}
	x.may[id] = true
}

// Changed records that the object has changed.
func (x *Rounds) Changed(r *admission.Request) {
	x.require()
	r.Again()
}

func (x *Rounds) require() {
	for id := range x.may {
		if x.will == nil {
			x.will = map[string]bool{}
		}
		x.will[id] = true
	}
	x.may = nil
}
