package clientsuite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
)

// access is one way to reach config maps. make returns an object of it, or nil if objects
// cannot be made that way.
type access[T client.Object] struct {
	client.Resource[T]
	make func(name, color string) T
}

// TestVerbs sends every option of every verb by Go type, as unstructured objects and as
// metadata, in each encoding, and sees that the server heeds it.
func TestVerbs(t *testing.T) {
	for _, encoding := range []string{client.ContentTypeJSON, client.ContentTypeProtobuf, client.ContentTypeCBOR} {
		t.Run(encoding[strings.LastIndexAny(encoding, "/.")+1:], func(t *testing.T) {
			c := connect(t, nil, client.Options{ContentType: encoding})
			t.Run("typed", func(t *testing.T) {
				ns := newNamespace(t)
				verbs(t, c, ns, access[*corev1.ConfigMap]{client.For[*corev1.ConfigMap](c).Namespace(ns), func(name, color string) *corev1.ConfigMap {
					return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"color": color}}}
				}})
			})
			t.Run("dynamic", func(t *testing.T) {
				if encoding == client.ContentTypeProtobuf {
					return // which it cannot carry: this would be JSON again
				}
				ns := newNamespace(t)
				verbs(t, c, ns, access[*unstructured.Unstructured]{client.Dynamic(c, configMaps, true).Namespace(ns), func(name, color string) *unstructured.Unstructured {
					return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
						"metadata": map[string]any{"name": name, "labels": map[string]any{"color": color}}}}
				}})
			})
			t.Run("metadata", func(t *testing.T) {
				ns := newNamespace(t)
				verbs(t, c, ns, access[*metav1.PartialObjectMetadata]{Resource: client.Metadata(c, configMaps, true).Namespace(ns)})
			})
		})
	}
}

func verbs[T client.Object](t *testing.T, c *client.Client, ns string, a access[T]) {
	plain := client.For[*corev1.ConfigMap](c).Namespace(ns)
	seed := func(t *testing.T, names ...string) (last *corev1.ConfigMap) {
		t.Helper()
		for _, name := range names {
			m, err := plain.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"color": "red"}}})
			if err != nil {
				t.Fatal(err)
			}
			last = m
		}
		return last
	}
	if a.make != nil {
		t.Run("create and update", func(t *testing.T) { creates(t, a) })
	} else {
		_, err := a.Create(t.Context(), any(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "no"}}).(T))
		if err == nil {
			t.Error("metadata alone was created")
		}
	}
	t.Run("get", func(t *testing.T) { gets(t, a, seed(t, "got")) })
	t.Run("list", func(t *testing.T) { seed(t, "l1", "l2", "l3", "l4", "l5"); lists(t, a) })
	t.Run("watch", func(t *testing.T) { watches(t, a, plain) })
	t.Run("patch", func(t *testing.T) { seed(t, "patched"); patches(t, a) })
	t.Run("delete", func(t *testing.T) { deletes(t, a, seed) })
	t.Run("heads", func(t *testing.T) { seed(t, "headed"); heads(t, a) })
	t.Run("without managed fields", func(t *testing.T) { withoutManaged(t, a, seed(t, "unmanaged"), plain) })
}

// refused asks for an error of a reason.
func refused(t *testing.T, what string, err error, want client.Reason) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}

func creates[T client.Object](t *testing.T, a access[T]) {
	ctx := t.Context()
	tried, err := a.Create(ctx, a.make("tried", "red"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil || tried.GetUID() == "" {
		t.Fatalf("a dry run: %v", err)
	}
	_, err = a.Get(ctx, "tried")
	refused(t, "what was only tried", err, client.ErrNotFound)
	made, err := a.Create(ctx, a.make("made", "red"), metav1.CreateOptions{FieldManager: "maker", FieldValidation: metav1.FieldValidationStrict})
	if err != nil || len(made.GetManagedFields()) != 1 || made.GetManagedFields()[0].Manager != "maker" {
		t.Fatalf("create: %v %v", err, made)
	}
	if made.GetObjectKind().GroupVersionKind().Kind != "ConfigMap" {
		t.Error("an object without kind: ", made)
	}
	_, err = a.Create(ctx, a.make("made", "red"))
	refused(t, "a second one", err, client.ErrAlreadyExists)
	if u, ok := any(a.make("strict", "red")).(*unstructured.Unstructured); ok {
		u.Object["colour"] = "red"
		_, err = a.Create(ctx, any(u).(T), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "unknown field") {
			t.Errorf("an unknown field, strictly: %v", err)
		}
	}
	named := a.make("", "red")
	named.SetGenerateName("gen-")
	if named, err = a.Create(ctx, named); err != nil || !strings.HasPrefix(named.GetName(), "gen-") {
		t.Errorf("a generated name: %v %v", err, named)
	}

	old := made.DeepCopyObject().(T)
	made.SetLabels(map[string]string{"color": "blue"})
	tried, err = a.Update(ctx, made, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil || tried.GetLabels()["color"] != "blue" {
		t.Errorf("a dry run: %v", err)
	}
	changed, err := a.Update(ctx, made, metav1.UpdateOptions{FieldManager: "changer"})
	if err != nil || !slices.ContainsFunc(changed.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == "changer" }) {
		t.Errorf("update: %v %v", err, changed)
	}
	_, err = a.Update(ctx, old)
	refused(t, "an update of what has changed", err, client.ErrConflict)
	times := 0
	err = client.RetryOnConflict(ctx, func() error {
		times++
		if times > 1 {
			if old, err = a.Get(ctx, "made"); err != nil {
				return err
			}
		}
		old.SetLabels(map[string]string{"color": "green"})
		_, err := a.Update(ctx, old)
		return err
	})
	if err != nil || times != 2 {
		t.Errorf("the conflict helper: %v after %d times", err, times)
	}
	_, err = a.Update(ctx, a.make("nobody", "red"))
	refused(t, "an update of nothing", err, client.ErrNotFound)
	for _, name := range []string{"made", named.GetName()} {
		if err := a.Delete(ctx, name); err != nil {
			t.Error(err)
		}
	}
}

func gets[T client.Object](t *testing.T, a access[T], made *corev1.ConfigMap) {
	ctx := t.Context()
	for _, rv := range []string{"", made.ResourceVersion} { // at least
		got, err := a.Get(ctx, "got", metav1.GetOptions{ResourceVersion: rv})
		if err != nil || got.GetUID() != made.UID || got.GetLabels()["color"] != "red" || got.GetResourceVersion() != made.ResourceVersion {
			t.Errorf("at %q: %v %v", rv, err, got)
		}
	}
	_, err := a.Get(ctx, "got", metav1.GetOptions{ResourceVersion: "much"})
	if err == nil || !strings.Contains(err.Error(), "resourceVersion") {
		t.Errorf("a revision that is none: %v", err)
	}
	_, err = a.Get(ctx, "none")
	refused(t, "what is not there", err, client.ErrNotFound)
	if err := a.Delete(ctx, "got"); err != nil {
		t.Error(err)
	}
}

func lists[T client.Object](t *testing.T, a access[T]) {
	ctx := t.Context()
	red := metav1.ListOptions{LabelSelector: "color=red"}
	all, err := a.List(ctx, red)
	if err != nil || len(all.Items) != 5 || all.ResourceVersion == "" || all.Items[0].GetObjectKind().GroupVersionKind().Kind == "" {
		t.Fatalf("%d objects, %v", len(all.Items), err)
	}
	for what, x := range map[string]struct {
		o    metav1.ListOptions
		want int
		err  client.Reason
	}{
		"a label that nobody has": {metav1.ListOptions{LabelSelector: "color=blue"}, 0, ""},
		"a set of labels":         {metav1.ListOptions{LabelSelector: "color in (red,blue),!size"}, 5, ""},
		"a field":                 {metav1.ListOptions{FieldSelector: "metadata.name=l2"}, 1, ""},
		"no field":                {metav1.ListOptions{FieldSelector: "data=l2"}, 0, client.Reason(metav1.StatusReasonBadRequest)},
		"any revision":            {metav1.ListOptions{LabelSelector: "color=red", ResourceVersion: "0"}, -1, ""},
		"not older":               {metav1.ListOptions{LabelSelector: "color=red", ResourceVersion: all.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, 5, ""},
		"exactly":                 {metav1.ListOptions{LabelSelector: "color=red", ResourceVersion: all.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact}, 5, ""},
		"a match of nothing":      {metav1.ListOptions{ResourceVersionMatch: metav1.ResourceVersionMatchExact}, 0, client.ErrInvalid},
	} {
		l, err := a.List(ctx, x.o)
		if x.err != "" {
			refused(t, what, err, x.err)
		} else if err != nil || x.want >= 0 && len(l.Items) != x.want {
			t.Errorf("%s: %d objects, want %d: %v", what, len(l.Items), x.want, err)
		}
	}
	red.Limit = 2
	sizes, names := []int{}, []string{}
	for page, err := range a.Pages(ctx, red) {
		if err != nil {
			t.Fatal(err)
		}
		if page.Continue != "" && page.ResourceVersion == "" {
			t.Error("a page of no revision")
		}
		sizes = append(sizes, len(page.Items))
		for _, obj := range page.Items {
			names = append(names, obj.GetName())
		}
	}
	if fmt.Sprint(sizes, names) != "[2 2 1] [l1 l2 l3 l4 l5]" {
		t.Errorf("pages of %v: %v", sizes, names)
	}
	for range a.Pages(ctx, red) {
		break // leaving the loop asks for no more
	}
	red.Continue = "nonsense"
	if _, err := a.List(ctx, red); !apierrors.IsBadRequest(err) {
		t.Errorf("a token that is none: %v", err)
	}
}

func watches[T client.Object](t *testing.T, a access[T], plain client.Resource[*corev1.ConfigMap]) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	red := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "seen", Labels: map[string]string{"color": "red", "watch": "yes"}}}
	made, err := plain.Create(ctx, red)
	if err != nil {
		t.Fatal(err)
	}
	w, err := a.Watch(ctx, metav1.ListOptions{ResourceVersion: made.ResourceVersion, LabelSelector: "watch=yes"})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(w *client.Watch[T], typ watch.EventType, name string) T {
		t.Helper()
		e, err := w.Next(ctx)
		if err != nil || e.Type != typ || e.Object.GetName() != name {
			t.Fatalf("%s %v %v, want %s %s", e.Type, e.Object, err, typ, name)
		}
		return e.Object
	}
	made.Labels["color"] = "blue"
	changed, err := plain.Update(ctx, made)
	if err != nil {
		t.Fatal(err)
	}
	if o := expect(w, watch.Modified, "seen"); o.GetResourceVersion() != changed.ResourceVersion || o.GetObjectKind().GroupVersionKind().Kind == "" {
		t.Errorf("an event of %v", o)
	}
	if _, err := plain.Patch(ctx, "seen", client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"watch": nil}}})); err != nil {
		t.Fatal(err)
	}
	expect(w, watch.Deleted, "seen") // to the selecting watch
	w.Stop()
	if _, err := w.Next(ctx); err == nil {
		t.Error("an event after Stop")
	}

	// The list first, then the end that was asked for.
	var listed []string
	w, revision, err := a.WatchList(ctx, metav1.ListOptions{FieldSelector: "metadata.name=seen", TimeoutSeconds: ptr.To[int64](1)}, func(ev client.Event[T]) {
		listed = append(listed, string(ev.Type)+" "+ev.Object.GetName())
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(listed) != 1 || listed[0] != "ADDED seen" || revision == "" {
		t.Errorf("the list at %q is %q", revision, listed)
	}
	for e, err := range w.Events(ctx) {
		if err != nil && err != io.EOF || err == nil && e.Type != watch.Bookmark {
			t.Errorf("the end is %v %v", e, err)
		}
	}
	_, err = a.Watch(ctx, metav1.ListOptions{SendInitialEvents: ptr.To(true)})
	refused(t, "initial events without a match", err, client.ErrInvalid)
	if err := plain.Delete(ctx, "seen"); err != nil {
		t.Error(err)
	}
}

func patches[T client.Object](t *testing.T, a access[T]) {
	ctx := t.Context()
	label := func(v any) map[string]any {
		return map[string]any{"metadata": map[string]any{"labels": map[string]any{"by": v}}}
	}
	applied := func(v string) map[string]any {
		m := label(v)
		m["apiVersion"], m["kind"] = "v1", "ConfigMap"
		return m
	}
	got, err := a.Get(ctx, "patched")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		what string
		p    client.Patch
		o    metav1.PatchOptions
		want string
		err  client.Reason
	}{
		{what: "merge, tried", p: client.MergePatch(label("try")), o: metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, want: "try"},
		{what: "JSON, the test fails", p: client.JSONPatch([]map[string]any{{"op": "test", "path": "/metadata/labels/by", "value": "try"}}), err: client.ErrInvalid},
		{what: "merge", p: client.MergePatch(label("merge")), o: metav1.PatchOptions{FieldManager: "merger"}, want: "merge"},
		{what: "strategic", p: client.StrategicPatch(label("strategic")), want: "strategic"},
		{what: "JSON", p: client.JSONPatch([]map[string]any{{"op": "replace", "path": "/metadata/labels/by", "value": "json"}}), o: metav1.PatchOptions{FieldManager: "jason"}, want: "json"},
		{what: "apply against another manager", p: client.ApplyPatch(applied("apply")), o: metav1.PatchOptions{FieldManager: "applier"}, err: client.ErrConflict},
		{what: "apply by force", p: client.ApplyPatch(applied("apply")), o: metav1.PatchOptions{FieldManager: "applier", Force: ptr.To(true)}, want: "apply"},
		{what: "apply without a manager", p: client.ApplyPatch(applied("apply")), err: client.ErrInvalid},
		{what: "an unknown field, strictly", p: client.MergePatch(map[string]any{"colour": "red"}), o: metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}, err: client.ErrInvalid},
		{what: "an old revision", p: client.MergePatch(map[string]any{"metadata": map[string]any{"resourceVersion": got.GetResourceVersion(), "labels": map[string]any{"by": "late"}}}), err: client.ErrConflict},
	} {
		obj, err := a.Patch(ctx, "patched", x.p, x.o)
		if x.err != "" {
			refused(t, x.what, err, x.err)
			continue
		}
		if err != nil || obj.GetLabels()["by"] != x.want {
			t.Errorf("%s: %v %v", x.what, err, obj)
			continue
		}
		if m := x.o.FieldManager; m != "" && !slices.ContainsFunc(obj.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == m }) {
			t.Errorf("%s: %s manages nothing", x.what, m)
		}
	}
	now, err := a.Get(ctx, "patched")
	if err != nil {
		t.Fatal(err)
	}
	next := now.DeepCopyObject().(T)
	next.SetLabels(map[string]string{"by": "difference"})
	if _, err := a.Patch(ctx, "patched", client.MergeFromLocked(now, next)); err != nil {
		t.Errorf("a difference, locked: %v", err)
	}
	_, err = a.Patch(ctx, "patched", client.MergeFromLocked(now, next))
	refused(t, "a difference from what has changed", err, client.ErrConflict)
	birth := applied("birth")
	birth["metadata"].(map[string]any)["name"] = "new"
	if _, err = a.Patch(ctx, "new", client.ApplyPatch(birth), metav1.PatchOptions{FieldManager: "applier"}); err != nil {
		t.Errorf("apply makes what is not there: %v", err)
	}
	_, err = a.Patch(ctx, "none", client.MergePatch(label("x")))
	refused(t, "a patch of nothing", err, client.ErrNotFound)
	for _, name := range []string{"patched", "new"} {
		if err := a.Delete(ctx, name); err != nil {
			t.Error(err)
		}
	}
}

func deletes[T client.Object](t *testing.T, a access[T], seed func(*testing.T, ...string) *corev1.ConfigMap) {
	ctx := t.Context()
	if err := a.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	m := seed(t, "victim")
	uid, other, rv := m.UID, m.UID+"x", m.ResourceVersion
	for _, x := range []struct {
		what string
		o    metav1.DeleteOptions
		err  client.Reason
	}{
		{"tried", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, ""},
		{"another UID", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}, client.ErrConflict},
		{"another revision", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: ptr.To("1")}}, client.ErrConflict},
		{"a policy that is none", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletionPropagation("Sideways"))}, client.ErrInvalid},
		{"as it is", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &rv}}, ""},
		{"gone", metav1.DeleteOptions{}, client.ErrNotFound},
	} {
		if err := a.Delete(ctx, "victim", x.o); x.err != "" {
			refused(t, x.what, err, x.err)
		} else if err != nil {
			t.Errorf("%s: %v", x.what, err)
		}
	}
	for policy, finalizer := range map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents,
		metav1.DeletePropagationOrphan:     metav1.FinalizerOrphanDependents,
		metav1.DeletePropagationBackground: "",
	} {
		seed(t, "parent")
		if err := a.Delete(ctx, "parent", metav1.DeleteOptions{PropagationPolicy: &policy, GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
			t.Errorf("%s: %v", policy, err)
		}
		left, err := a.Get(ctx, "parent")
		if finalizer == "" {
			refused(t, string(policy), err, client.ErrNotFound)
			continue
		}
		if err != nil || left.GetDeletionTimestamp() == nil || !slices.Contains(left.GetFinalizers(), finalizer) {
			t.Errorf("%s: %v %v", policy, err, left)
		}
		if _, err := a.Patch(ctx, "parent", client.MergePatch(map[string]any{"metadata": map[string]any{"finalizers": nil}})); err != nil {
			t.Error(err)
		}
	}

	seed(t, "c1", "c2", "c3")
	if err := a.DeleteCollection(ctx, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	if err := a.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name!=c2", LabelSelector: "color=red"}); err != nil {
		t.Error(err)
	}
	if l, err := a.List(ctx); err != nil || len(l.Items) != 1 || l.Items[0].GetName() != "c2" {
		t.Errorf("left are %v %v", l.Items, err)
	}
}
