package browser

import (
	"testing"

	"fairlead.dev/client"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// injection: the page shows names of objects and clients as text, never as HTML.
func (b *fixture) injection(t *testing.T) {
	const markup = `<img src=x onerror="window.slipped=true"><script>window.slipped=true</script>`
	const agent = `<img/src=x/onerror="window.slipped=true">` // the page shows only the part before the first space
	config := b.cp.Config()
	config.QPS = -1
	c, err := client.New(config, client.Options{UserAgent: agent})
	if err != nil {
		t.Fatal(err)
	}
	o := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "hostile", Annotations: map[string]string{"note": markup}},
		Data:       map[string]string{"page": markup, "link": "javascript:window.slipped=true"},
	}
	maps := client.For[*corev1.ConfigMap](c).Namespace("default")
	made, err := maps.Create(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	made.Annotations["note"] += "\n" + markup
	if _, err := maps.Update(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	clean := func() {
		t.Helper()
		if get[bool](t, b, `window.slipped === true || document.querySelector('main img, main script, [href^="javascript"]') !== null`) {
			t.Error("HTML in an object's text became HTML of the page: ", get[string](t, b, `document.querySelector('main').innerHTML`))
		}
	}
	b.do(t, evaluate(`window.slipped = undefined`))
	b.open(t, "#/object/configmaps/default/hostile?part=history")
	b.until(t, `document.querySelectorAll('.timeline .change ins').length > 0 && document.querySelector('.timeline').textContent.includes('<img src=x onerror=')`)
	b.do(t, evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`))
	b.until(t, `document.querySelector('.timeline .yaml')?.textContent.includes('<script>window.slipped=true</script>')`)
	clean()
	b.open(t, "#/events/"+made.ResourceVersion)
	b.until(t, `document.querySelector('.about')?.textContent.includes('<img/src=x')`)
	clean()
	b.open(t, "#/browse/configmaps?of=default%2Fhostile&at="+made.ResourceVersion)
	b.until(t, `document.querySelector('.side .yaml')?.textContent.includes('<img src=x')`)
	clean()
	b.open(t, "#/object/%3Cimg%20src=x%3E/default/%22%3E%3Cimg%20src=x%3E")
	b.until(t, `document.querySelector('.about .bad') || document.querySelector('.why').textContent.includes('It does not exist')`)
	clean()
}
