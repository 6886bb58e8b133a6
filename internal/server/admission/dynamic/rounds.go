package dynamic

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/admission"
)

// Rounds says who is asked in the second run of the mutators: those who may be asked
// again and were asked before something changed. Who was not asked in the first is not
// in the second.
type Rounds struct {
	may, will map[string]bool
	last      runtime.Object // as this plugin left it
}

// Begin is called when the plugin's turn comes. What other plugins did to the object
// since its last turn counts as a change.
func (x *Rounds) Begin(r *admission.Request) {
	if r.SecondRun() && !equality.Semantic.DeepEqual(x.last, r.Object) {
		x.require()
	}
}

// End is called when it is over.
func (x *Rounds) End(r *admission.Request) {
	if x.last = nil; r.Object != nil {
		x.last = r.Object.DeepCopyObject()
	}
}

// Asks says whether the one with the id is asked in this run.
func (x *Rounds) Asks(r *admission.Request, id string) bool { return !r.SecondRun() || x.will[id] }

// MayAskAgain notes that the one with the id was asked and wants to know of changes.
func (x *Rounds) MayAskAgain(id string) {
	if x.may == nil {
		x.may = map[string]bool{}
	}
	x.may[id] = true
}

// Changed notes that the object has changed.
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
