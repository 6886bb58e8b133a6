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
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func newUI() *cobra.Command {
	var from target
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Print a link to the server's page, which logs in as the kubeconfig's user",
		Long: `Ui prints a link to the server's page, which shows events and their lives, objects
through time, watchers and queues. The link is good for one login within ten minutes.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printLink(cmd.Context(), cmd.OutOrStdout(), &from)
		},
	}
	from.register(cmd, cmd.Flags())
	return cmd
}

func printLink(ctx context.Context, out io.Writer, from *target) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c, _, err := connectTo(from)
	if err != nil {
		return err
	}
	res, err := c.REST().Do(ctx, client.Request{Method: http.MethodPost, Path: ui.LinksPath, Accept: "application/json, */*"})
	if apierrors.IsNotFound(err) {
		return errors.New("this server has no page: it is not Fairlead")
	}
	if err != nil {
		return err
	}
	var link ui.Link
	if err := json.Unmarshal(res.Body, &link); err != nil {
		return fmt.Errorf("the server did not return a link: %w", err)
	}
	base := c.REST().Address("/", nil)
	_, err = fmt.Fprintf(out, "%s://%s%s\n", base.Scheme, base.Host, link.Path)
	return err
}
