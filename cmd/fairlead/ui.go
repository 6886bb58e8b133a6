package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/server/ui"
	"github.com/cli/browser"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func newUI() *cobra.Command {
	var from target
	var open bool
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Print a link to the server's page, which logs in as the kubeconfig's user",
		Long: `Ui prints a link to the server's page, which shows events and their lives, objects
through time, watchers and queues. The link is good for one login within ten minutes.
--open opens it in a browser, too.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			link, err := makeLink(cmd.Context(), &from)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), link); err != nil || !open {
				return err
			}
			return openLink(cmd.ErrOrStderr(), link)
		},
	}
	from.register(cmd, cmd.Flags())
	cmd.Flags().BoolVar(&open, "open", false, "open the link in a browser")
	return cmd
}

// openLink opens a link in the user's browser, whose messages go to aside.
func openLink(aside io.Writer, link string) error {
	browser.Stdout, browser.Stderr = aside, aside
	if err := browser.OpenURL(link); err != nil {
		return fmt.Errorf("no browser was opened: %w; open the link yourself", err)
	}
	return nil
}

// makeLink asks the server for a link that logs in as the kubeconfig's user.
func makeLink(ctx context.Context, from *target) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c, _, err := connectTo(from)
	if err != nil {
		return "", err
	}
	res, err := c.REST().Do(ctx, client.Request{Method: http.MethodPost, Path: ui.LinksPath, Accept: "application/json, */*"})
	if apierrors.IsNotFound(err) {
		return "", errors.New("this server has no page: it is not Fairlead")
	}
	if err != nil {
		return "", err
	}
	var link ui.Link
	if err := json.Unmarshal(res.Body, &link); err != nil {
		return "", fmt.Errorf("the server did not return a link: %w", err)
	}
	base := c.REST().Address("/", nil)
	return base.Scheme + "://" + base.Host + link.Path, nil
}
