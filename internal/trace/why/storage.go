package why

import "fmt"

// claim explains why a claim is not bound.
func (a *Explanation) claim(s *Subject) {
	phase := s.text("status", "phase")
	a.State = "is " + phase
	if phase == "Bound" {
		a.State += " to " + s.text("spec", "volumeName")
		return
	}
	a.Waits = true
	class, named := s.at("spec", "storageClassName").(string)
	switch {
	case !named:
		a.problem(s, "it has no storage class, and there is no default one", "mark a class as the default: kubectl annotate storageclass NAME storageclass.kubernetes.io/is-default-class=true")
	case class == "":
		a.problem(s, `it requests a volume without a class (storageClassName is ""): an administrator has to create it`, "create a PersistentVolume that fits")
	default:
		a.pending(s, "it waits for a volume of class "+class)
	}
	if phase == "Lost" {
		a.problem(s, "its volume "+s.text("spec", "volumeName")+" does not exist", "restore the volume, or delete the claim")
	}
}

// volume explains the phase of a volume.
func (a *Explanation) volume(s *Subject) {
	phase := s.text("status", "phase")
	a.State = "is " + phase
	switch phase {
	case "Bound":
		a.State += fmt.Sprintf(" to %s/%s", s.text("spec", "claimRef", "namespace"), s.text("spec", "claimRef", "name"))
	case "Failed":
		a.Waits = true
		a.problem(s, because(s.text("status", "reason"), s.text("status", "message")), "")
	case "Released":
		a.Reasons = append(a.Reasons, "its claim was deleted; the reclaim policy is "+s.text("spec", "persistentVolumeReclaimPolicy"))
	}
}
