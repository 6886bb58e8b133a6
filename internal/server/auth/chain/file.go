package chain

import (
	"fmt"
	"os"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/load"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	"k8s.io/apiserver/pkg/server/options/authorizationconfig/metrics"
)

// MetricPrefixes begin the names of upstream's metrics of webhooks and of the file, which are in the registry of
// component-base.
var MetricPrefixes = []string{
	"apiserver_authorization_config_controller_", "apiserver_authorization_match_condition_", "apiserver_authorization_webhook_",
}

// FromFile returns the Chain of an AuthorizationConfiguration of apiserver.config.k8s.io. policies is the file of the authorizer
// ABAC, and server the identity of the API server in metrics.
func FromFile(path, policies, server string) (*Chain, error) {
	c := newChain()
	c.file, c.policyFile, c.server = path, policies, server
	text, err := c.read()
	if err != nil {
		return nil, err
	}
	c.data.Store(&text)
	metrics.RegisterMetrics()
	metrics.RecordAuthorizationConfigLastConfigInfo(server, text)
	return c, nil
}

// Reload reads the file again. It leaves the former one in force if the file cannot be used.
func (c *Chain) Reload() error {
	text, err := c.read()
	if err != nil {
		metrics.RecordAuthorizationConfigAutomaticReloadFailure(c.server)
		return err
	}
	if before := c.data.Swap(&text); *before != text {
		metrics.RecordAuthorizationConfigAutomaticReloadSuccess(c.server, text)
	}
	return nil
}

func (c *Chain) read() (string, error) {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return "", err
	}
	config, err := load.LoadFromData(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.file, err)
	}
	if err := c.check(config); err != nil {
		return "", fmt.Errorf("%s: %w", c.file, err)
	}
	if err := c.use(config); err != nil {
		return "", fmt.Errorf("%s: %w", c.file, err)
	}
	return string(text), nil
}

// check validates the configuration of a file.
func (c *Chain) check(config *apiserver.AuthorizationConfiguration) error {
	known := sets.New(ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook)
	if errs := validation.ValidateAuthorizationConfiguration(c.compiler(), nil, config, known, sets.New(Webhook)); len(errs) > 0 {
		return errs.ToAggregate()
	}
	var errs []error
	seen := sets.New[string]()
	for _, a := range config.Authorizers {
		if a.Type == Webhook {
			continue
		}
		seen.Insert(string(a.Type))
		if name := strings.ToLower(string(a.Type)); a.Name != name { // as that of an authorizer of --authorization-mode
			errs = append(errs, fmt.Errorf("expected name %s for authorizer %s instead of %s", name, a.Type, a.Name))
		}
	}
	if missing := c.required.Difference(seen); missing.Len() > 0 {
		errs = append(errs, fmt.Errorf("missing required types: %v", sets.List(missing)))
	}
	return utilerrors.NewAggregate(errs)
}
