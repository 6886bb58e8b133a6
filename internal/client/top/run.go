package top

import (
	"context"
	"os"

	tea "charm.land/bubbletea/v2"

	"fairlead.dev/client"
)

// Options configure Run. All members but Namespace are required.
type Options struct {
	Client *client.Client
	// Kinds are those of the server, by ServerResources.
	Kinds []client.APIResource
	// Namespace is the first to browse; "" is all.
	Namespace string
	// Host names the server in the header.
	Host string
	// Describe words an error in one line.
	Describe func(error) string
}

// framesPerSecond bounds how often the terminal is drawn.
const framesPerSecond = 20

// Run shows the program on the terminal of standard input and output until the user quits or ctx ends, and restores the
// terminal. The process must not write to the terminal meanwhile.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := tea.NewProgram(newModel(&link{ctx: ctx, c: o.Client}, o),
		tea.WithInput(os.Stdin), tea.WithOutput(os.Stdout), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, p.Quit)()
	_, err := p.Run()
	return err
}
