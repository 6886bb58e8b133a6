package kubeapiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

// flags are the flags that have the same effect as in kube-apiserver.
type flags struct {
	address    net.IP
	port       int
	certDir    string
	plugins    plugins
	emulation  emulation
	apis       map[string]string
	cidr       string
	anonymous  bool
	bootstrap  bool
	privileged bool
	requests   controlplane.Limits
	options    controlplane.Options
}

func (f *flags) register(set *pflag.FlagSet) {
	o, a := &f.options, &f.options.Access
	set.IPVar(&f.address, "bind-address", net.IPv4zero, "address to listen on")
	set.IntVar(&f.port, "secure-port", 6443, "port to serve HTTPS on")
	set.StringVar(&o.AdvertiseAddress, "advertise-address", "", "IP address at which others reach the server")
	set.StringVar(&f.certDir, "cert-dir", "", "directory of apiserver.crt and apiserver.key, which are made if they do not exist")
	set.StringVar(&a.ServingCertFile, "tls-cert-file", "", "file with the server's certificate")
	set.StringVar(&a.ServingKeyFile, "tls-private-key-file", "", "file with the key of the server's certificate")

	set.StringSliceVar(&o.Etcd.Servers, "etcd-servers", nil, "URLs of the etcd servers")
	set.StringVar(&o.Etcd.CAFile, "etcd-cafile", "", "file with the CA of the etcd servers")
	set.StringVar(&o.Etcd.CertFile, "etcd-certfile", "", "file with the client certificate for etcd")
	set.StringVar(&o.Etcd.KeyFile, "etcd-keyfile", "", "file with the key of the client certificate for etcd")
	set.StringVar(&o.Etcd.Prefix, "etcd-prefix", controlplane.DefaultEtcdPrefix, "prefix of all keys in etcd")

	set.BoolVar(&f.anonymous, "anonymous-auth", true, "allow requests without credentials, of the user system:anonymous")
	set.StringVar(&a.ClientCAFile, "client-ca-file", "", "file with the CAs of client certificates")
	set.StringVar(&a.TokenFile, "token-auth-file", "", "CSV file with tokens: token, user, UID, groups")
	set.BoolVar(&f.bootstrap, "enable-bootstrap-token-auth", false, "accept the tokens in Secrets of type bootstrap.kubernetes.io/token in kube-system")
	set.StringSliceVar(&a.Audiences, "api-audiences", nil, "audiences of service account tokens for this server")
	set.StringArrayVar(&a.Issuers, "service-account-issuer", nil, "name of the service account issuer; the first is in new tokens, all are accepted")
	set.StringVar(&a.SigningKeyFile, "service-account-signing-key-file", "", "file with the private key of service account tokens")
	set.StringArrayVar(&a.KeyFiles, "service-account-key-file", nil, "file with keys that verify service account tokens")
	set.DurationVar(&a.MaxTokenExpiration, "service-account-max-token-expiration", 0, "longest validity of a requested token")

	set.StringSliceVar(&a.Authorization, "authorization-mode", []string{controlplane.AuthorizeAlwaysAllow}, "authorizers to ask: AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook")
	set.StringVar(&a.AuthorizationWebhook.ConfigFile, "authorization-webhook-config-file", "", "kubeconfig of the authorization webhook")
	set.StringVar(&a.AuthorizationWebhook.Version, "authorization-webhook-version", "v1beta1", "version of the webhook's SubjectAccessReviews")
	set.DurationVar(&a.AuthorizationWebhook.AllowedTTL, "authorization-webhook-cache-authorized-ttl", 5*time.Minute, "how long to keep the webhook's permissions")
	set.DurationVar(&a.AuthorizationWebhook.DeniedTTL, "authorization-webhook-cache-unauthorized-ttl", 30*time.Second, "how long to keep the webhook's refusals")

	k := &o.Kubelets
	set.StringVar(&k.CertFile, "kubelet-client-certificate", "", "file with the server's client certificate for kubelets")
	set.StringVar(&k.KeyFile, "kubelet-client-key", "", "file with the key of the client certificate for kubelets")
	set.StringVar(&k.CAFile, "kubelet-certificate-authority", "", "file with the CAs of the kubelets' certificates")
	set.StringSliceVar(&k.AddressTypes, "kubelet-preferred-address-types", []string{"Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"}, "types of the node addresses to use, in order of preference")

	f.plugins.register(set)
	set.BoolVar(&f.privileged, "allow-privileged", false, "allow privileged containers")
	set.StringVar(&f.cidr, "service-cluster-ip-range", "10.0.0.0/24", "range of the cluster IPs of Services")

	f.emulation.register(set)
	set.StringToStringVar(&f.apis, "runtime-config", nil, "API versions to serve or not, such as batch/v1=false or api/beta=true")

	set.DurationVar(&o.EventTTL, "event-ttl", time.Hour, "how long events are kept")
	set.IntVar(&f.requests.MaxReads, "max-requests-inflight", 400, "limit on concurrent reads; 0 for no limit")
	set.IntVar(&f.requests.MaxWrites, "max-mutating-requests-inflight", 200, "limit on concurrent writes; 0 for no limit")
	set.DurationVar(&f.requests.RequestTimeout, "request-timeout", time.Minute, "time limit of a request, not of watches")
}

// controlPlane returns the options of the control plane that the flags describe. It returns an error that names the
// flag at fault.
func (f *flags) controlPlane(ctx context.Context) (o controlplane.Options, err error) {
	o = f.options
	if f.port < 1 || f.port > 65535 {
		return o, fmt.Errorf("--secure-port=%d: want a port between 1 and 65535", f.port)
	}
	o.Listen = net.JoinHostPort(f.address.String(), strconv.Itoa(f.port))
	if err := f.access(&o.Access); err != nil {
		return o, err
	}
	if o.API, err = f.emulation.api(); err != nil {
		return o, err
	}
	o.CBOR = o.API.Enabled(cborGate)
	if o.API.Later, err = laterAPIs(f.apis, o.API, f.emulation.forwardTyped); err != nil {
		return o, err
	}
	if o.DisabledAPIs, err = disabledAPIs(f.apis, o.API); err != nil {
		return o, err
	}
	for name, n := range map[string]int{"max-requests-inflight": f.requests.MaxReads, "max-mutating-requests-inflight": f.requests.MaxWrites} {
		if n < 0 {
			return o, fmt.Errorf("--%s=%d: want 0 or more", name, n)
		}
	}
	if f.requests.RequestTimeout <= 0 {
		return o, fmt.Errorf("--request-timeout=%v: want more than 0", f.requests.RequestTimeout)
	}
	if o.EventTTL <= 0 {
		return o, fmt.Errorf("--event-ttl=%v: want more than 0", o.EventTTL)
	}
	o.Limits = f.requests
	for _, n := range []*int{&o.Limits.MaxReads, &o.Limits.MaxWrites} {
		if *n == 0 {
			*n = -1 // no limit
		}
	}
	return o, useStore(ctx, &o)
}

// access completes and checks the flags of authentication, authorization and admission.
func (f *flags) access(a *controlplane.Access) (err error) {
	if a.ServiceCIDR, err = netip.ParsePrefix(f.cidr); err != nil || !a.ServiceCIDR.Addr().Is4() {
		return fmt.Errorf("--service-cluster-ip-range=%s: want one IPv4 range, such as 10.0.0.0/24", f.cidr)
	}
	if (a.ServingCertFile == "") != (a.ServingKeyFile == "") {
		return errors.New("--tls-cert-file and --tls-private-key-file: want both or neither")
	}
	if a.ServingCertFile == "" && f.certDir != "" {
		if a.ServingCertFile, a.ServingKeyFile, err = selfSigned(f.certDir, f.address); err != nil {
			return fmt.Errorf("--cert-dir: %w", err)
		}
	}
	for i, mode := range a.Authorization {
		if !slices.Contains(authorizers, mode) {
			return fmt.Errorf("--authorization-mode=%s: want %s", mode, oneOf(authorizers))
		}
		if slices.Contains(a.Authorization[:i], mode) {
			return fmt.Errorf("--authorization-mode: %s is there twice", mode)
		}
	}
	if webhook := slices.Contains(a.Authorization, controlplane.AuthorizeWebhook); webhook != (a.AuthorizationWebhook.ConfigFile != "") {
		return errors.New("--authorization-mode=Webhook and --authorization-webhook-config-file: want both or neither")
	}
	// As in kube-apiserver, which does not combine anonymous requests with a server that allows everything.
	a.NoAnonymous = !f.anonymous || slices.Contains(a.Authorization, controlplane.AuthorizeAlwaysAllow)
	a.NoBootstrapTokens = !f.bootstrap
	for _, issuer := range a.Issuers {
		if issuer == "" {
			return errors.New("--service-account-issuer: want a name that is not empty")
		}
	}
	if a.SigningKeyFile == "" && len(a.KeyFiles) > 0 {
		return errors.New("--service-account-key-file: want --service-account-signing-key-file too")
	}
	if t := a.MaxTokenExpiration; t != 0 && (t < time.Hour || t > 1<<32*time.Second) {
		return fmt.Errorf("--service-account-max-token-expiration=%v: want between 1 hour and 2^32 seconds", t)
	}
	a.NoPrivileged = !f.privileged
	a.DisabledPlugins, err = f.plugins.disabledPlugins()
	return err
}

var authorizers = []string{
	controlplane.AuthorizeAlwaysAllow, controlplane.AuthorizeAlwaysDeny, controlplane.AuthorizeNode,
	controlplane.AuthorizeRBAC, controlplane.AuthorizeWebhook,
}
