package extension

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/util/cert"
)

// claims counts the definitions that hold each name, by group.
type claims struct {
	resources, kinds map[claimed]int
}

type claimed struct{ group, name string }

// claim collects the names that are taken.
func claim(all []*served) claims {
	c := claims{map[claimed]int{}, map[claimed]int{}}
	for _, s := range all {
		c.count(s.definition, 1)
	}
	return c
}

func (c claims) count(d *apiextensionsv1.CustomResourceDefinition, n int) {
	a := d.Status.AcceptedNames
	for _, name := range append([]string{a.Plural, a.Singular}, a.ShortNames...) {
		c.resources[claimed{d.Spec.Group, name}] += n
	}
	for _, name := range []string{a.Kind, a.ListKind} {
		c.kinds[claimed{d.Spec.Group, name}] += n
	}
}

// replace replaces the names of a definition's previous state by those of the next.
func (c claims) replace(before, after *apiextensionsv1.CustomResourceDefinition) {
	c.count(before, -1)
	c.count(after, 1)
}

// settled reports whether the definition has its requested names, and all conditions, so that its status needs no
// work.
func settled(d *apiextensionsv1.CustomResourceDefinition) bool {
	return apihelpers.IsCRDConditionTrue(d, apiextensionsv1.NamesAccepted) &&
		apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established) &&
		!apihelpers.IsProtectedCommunityGroup(d.Spec.Group) &&
		equality.Semantic.DeepEqual(d.Spec.Names, d.Status.AcceptedNames)
}

// settle gives a definition its requested names that are free, and sets its conditions.
func (c claims) settle(d *apiextensionsv1.CustomResourceDefinition) {
	if !equality.Semantic.DeepEqual(d.Spec.Names, d.Status.AcceptedNames) {
		names, condition := c.accept(d)
		d.Status.AcceptedNames = names
		setCondition(d, condition)
		if apihelpers.FindCRDCondition(d, apiextensionsv1.Established) == nil && condition.Status != apiextensionsv1.ConditionTrue {
			setCondition(d, apiextensionsv1.CustomResourceDefinitionCondition{
				Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse,
				Reason: "NotAccepted", Message: "not all names are accepted",
			})
		}
	}
	if !apihelpers.IsCRDConditionTrue(d, apiextensionsv1.NamesAccepted) || apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established) {
		return
	}
	established := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue,
		Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
	}
	if brokenBundle(d) {
		established.Status, established.Reason = apiextensionsv1.ConditionFalse, "InvalidCABundle"
		established.Message = "The conversion webhook CABundle is invalid"
	}
	setCondition(d, established)
}

// accept compares the requested names with the definition's accepted names and with those of other definitions.
func (c claims) accept(d *apiextensionsv1.CustomResourceDefinition) (names apiextensionsv1.CustomResourceDefinitionNames, condition apiextensionsv1.CustomResourceDefinitionCondition) {
	want, have := d.Spec.Names, d.Status.AcceptedNames
	names = have
	condition = apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue,
		Reason: "NoConflicts", Message: "no conflicts found",
	}
	free := func(taken map[claimed]int, wanted, had string) error {
		if wanted == had || taken[claimed{d.Spec.Group, wanted}] == 0 {
			return nil
		}
		return fmt.Errorf("%q is already in use", wanted)
	}
	conflict := func(reason string, err error) bool {
		if err != nil {
			condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionFalse, reason, err.Error()
		}
		return err != nil
	}
	if !conflict("PluralConflict", free(c.resources, want.Plural, have.Plural)) {
		names.Plural = want.Plural
	}
	if !conflict("SingularConflict", free(c.resources, want.Singular, have.Singular)) {
		names.Singular = want.Singular
	}
	var errs []error
	for _, short := range want.ShortNames {
		if !slices.Contains(have.ShortNames, short) {
			errs = append(errs, free(c.resources, short, ""))
		}
	}
	if !conflict("ShortNamesConflict", aggregate(errs)) {
		names.ShortNames = want.ShortNames
	}
	if !conflict("KindConflict", free(c.kinds, want.Kind, have.Kind)) {
		names.Kind = want.Kind
	}
	if !conflict("ListKindConflict", free(c.kinds, want.ListKind, have.ListKind)) {
		names.ListKind = want.ListKind
	}
	names.Categories = want.Categories
	return names, condition
}

// aggregate combines errors into one, or nil.
func aggregate(errs []error) error {
	if a := utilerrors.NewAggregate(errs); a != nil {
		return a
	}
	return nil
}

func brokenBundle(d *apiextensionsv1.CustomResourceDefinition) bool {
	c := d.Spec.Conversion
	return c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil &&
		len(c.Webhook.ClientConfig.CABundle) > 0 && !isBundle(c.Webhook.ClientConfig.CABundle)
}

func isBundle(pem []byte) bool {
	_, err := cert.ParseCertsPEM(pem)
	return err == nil
}

// approve sets the approval condition of a definition in a protected community group (*.k8s.io).
func approve(d *apiextensionsv1.CustomResourceDefinition) {
	if !apihelpers.IsProtectedCommunityGroup(d.Spec.Group) {
		return
	}
	state, message := apihelpers.GetAPIApprovalState(d.Annotations)
	c := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse, Message: message,
	}
	switch state {
	case apihelpers.APIApproved:
		c.Status, c.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalBypassed:
		c.Reason = "UnapprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		c.Reason = "MissingAnnotation"
	default:
		c.Reason = "InvalidAnnotation"
	}
	setCondition(d, c)
}

// setCondition sets a condition unless it is set already.
func setCondition(d *apiextensionsv1.CustomResourceDefinition, c apiextensionsv1.CustomResourceDefinitionCondition) {
	now := apihelpers.FindCRDCondition(d, c.Type)
	if now != nil && now.Status == c.Status && now.Reason == c.Reason && now.Message == c.Message {
		return
	}
	apihelpers.SetCRDCondition(d, c)
}
