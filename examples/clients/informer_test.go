package clients

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/informer"
)

// A local copy with an index, its handler, and reading one's own write.
func Example_informer() {
	_, c, stop := plane()
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	maps := client.For[*corev1.ConfigMap](c).Namespace("default")

	copies := informer.New(maps, informer.Options[*corev1.ConfigMap]{LabelSelector: "team"})
	copies.Index("team", func(m *corev1.ConfigMap) []string { return []string{m.Labels["team"]} })
	added := make(chan string, 10)
	copies.Handle(informer.Handler[*corev1.ConfigMap]{
		Add: func(m *corev1.ConfigMap, initial bool) { added <- m.Name },
	})
	done := make(chan error)
	go func() { done <- copies.Run(ctx) }()
	<-copies.Synced()

	var last string
	for _, name := range []string{"a", "b", "c"} {
		m := &corev1.ConfigMap{}
		m.Name, m.Labels = name, map[string]string{"team": map[string]string{"a": "red", "b": "blue", "c": "red"}[name]}
		m, err := maps.Create(ctx, m)
		must(err)
		last = m.ResourceVersion
	}
	must(copies.Store().WaitFor(ctx, last)) // the copy is as new as the last write
	fmt.Println("of team red:", len(copies.Store().ByIndex("team", "red")))
	fmt.Println("told:", <-added, <-added, <-added)

	cancel()
	must(<-done)
	// Output:
	// of team red: 2
	// told: a b c
}
