package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/nodegroups/externalgrpc"
)

const groupsHead = "apiVersion: config.fairlead.dev/v1alpha1\nkind: NodeGroups\n"

// twoGroups has a group that starts with a node, and a cheap one with a stock of one.
const twoGroups = groupsHead + `
groups:
- name: small
  min: 1
  max: 4
  pricePerHour: 0.1
  provisionTime: 1s..2s
  registrationTime: 1s
  zones: [zone-a, zone-b]
  autoscaling: {scaleDownUnneededTime: 5s}
  template:
  - metadata: {labels: {disk: fast, accelerator: a100}}
    status: {capacity: {cpu: "4", memory: 8Gi}}
  - apiVersion: kubelet.config.k8s.io/v1beta1
    kind: KubeletConfiguration
    kubeReserved: {cpu: 500m}
- name: spot
  max: 3
  pricePerHour: 0.04
  stock: 1
  template:
  - spec: {taints: [{key: spot, effect: NoSchedule}]}
    status: {capacity: {cpu: "8", memory: 16Gi}}
`

// autoscaler speaks Cluster Autoscaler's protocol to a server.
type autoscaler struct {
	t *testing.T
	externalgrpc.CloudProviderClient
}

// dialGroups connects to the node groups at an address, and waits until they are served.
func dialGroups(t *testing.T, address string, creds credentials.TransportCredentials) autoscaler {
	t.Helper()
	c, err := grpc.NewClient(address, grpc.WithTransportCredentials(creds), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	a := autoscaler{t, externalgrpc.NewCloudProviderClient(c)}
	must(t)(a.Refresh(a.ctx(), &externalgrpc.RefreshRequest{}))
	return a
}

func (a autoscaler) ctx() context.Context {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	a.t.Cleanup(stop)
	return ctx
}

func must(t *testing.T) func(any, error) {
	return func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// wantCode fails the test unless the call failed with the code.
func wantCode(t *testing.T, want codes.Code, _ any, err error) {
	t.Helper()
	if status.Code(err) != want {
		t.Errorf("%v, want %v", err, want)
	}
}

func (a autoscaler) size(id string) int32 {
	a.t.Helper()
	res, err := a.NodeGroupTargetSize(a.ctx(), &externalgrpc.NodeGroupTargetSizeRequest{Id: id})
	must(a.t)(res, err)
	return res.TargetSize
}

func (a autoscaler) increase(id string, delta int32) error {
	_, err := a.NodeGroupIncreaseSize(a.ctx(), &externalgrpc.NodeGroupIncreaseSizeRequest{Id: id, Delta: delta})
	return err
}

// instances returns the instances of a group: their IDs, with the state and the code of an error.
func (a autoscaler) instances(id string) map[string]string {
	a.t.Helper()
	res, err := a.NodeGroupNodes(a.ctx(), &externalgrpc.NodeGroupNodesRequest{Id: id})
	must(a.t)(res, err)
	all := map[string]string{}
	for _, i := range res.Instances {
		all[i.Id] = strings.TrimSpace(i.Status.InstanceState.String() + " " + i.Status.ErrorInfo.GetErrorCode())
	}
	return all
}

// delete deletes nodes, given as GROUP/NAME, from a group.
func (a autoscaler) delete(id string, nodes ...string) error {
	req := &externalgrpc.NodeGroupDeleteNodesRequest{Id: id}
	for _, n := range nodes {
		req.Nodes = append(req.Nodes, &externalgrpc.ExternalGrpcNode{Name: n, ProviderID: "fairlead://" + n})
	}
	_, err := a.NodeGroupDeleteNodes(a.ctx(), req)
	return err
}

// freeAddress returns an address at which a server can listen.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// withGroups starts a server without other nodes than those of groups.
func withGroups(t *testing.T, dir, groups string, args ...string) (*process, autoscaler) {
	t.Helper()
	address := freeAddress(t)
	p := up(t, dir, append([]string{"--nodes=0", "--node-groups=" + writeFile(t, groups), "--node-groups-address=" + address}, args...)...)
	return p, dialGroups(t, address, insecure.NewCredentials())
}

// TestNodeGroups scales groups as Cluster Autoscaler does: nodes come after a while and run pods, prices and templates are those
// of the file, stock runs out and returns.
func TestNodeGroups(t *testing.T) {
	t.Parallel()
	p, a := withGroups(t, t.TempDir(), twoGroups, "--in-memory")
	p.exist("node/small-1", "serviceaccount/default")
	p.kubectl("wait", "--for=condition=Ready", "node/small-1", "--timeout="+patience.String())

	groups, err := a.NodeGroups(a.ctx(), &externalgrpc.NodeGroupsRequest{})
	must(t)(groups, err)
	if g := groups.NodeGroups; len(g) != 2 || g[0].Id != "small" || g[0].MinSize != 1 || g[0].MaxSize != 4 {
		t.Errorf("groups: %v", g)
	}
	a.checkTemplate(p)
	a.checkPrices()

	// Pending pods run on a node that comes.
	p.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=2")
	p.kubectl("set", "resources", "deployment/web", "--requests=cpu=3")
	if err := a.increase("small", 1); err != nil {
		t.Fatal(err)
	}
	if size := a.size("small"); size != 2 {
		t.Errorf("the size after the increase: %d", size)
	}
	p.kubectl("rollout", "status", "deployment/web", "--timeout="+patience.String())
	expect(t, "zones", p.kubectl("get", "nodes", "-L", "topology.kubernetes.io/zone"), "zone-a", "zone-b")
	const id = "fairlead://small/small-2"
	if is := a.instances("small")[id]; is != "instanceRunning" {
		t.Errorf("%s is %s", id, is)
	}
	p.kubectl("delete", "deployment", "web")

	wantCode(t, codes.FailedPrecondition, nil, a.increase("small", 3))
	wantCode(t, codes.InvalidArgument, nil, a.increase("small", 0))
	wantCode(t, codes.NotFound, nil, a.increase("large", 1))
	wantCode(t, codes.InvalidArgument, nil, a.delete("spot", "small/small-2"))
	if err := a.delete("small", "small/small-2"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, codes.FailedPrecondition, nil, a.delete("small", "small/small-1"))
	if size := a.size("small"); size != 1 {
		t.Errorf("the size after the deletion: %d", size)
	}
	p.kubectl("wait", "--for=delete", "node/small-2", "--timeout="+patience.String())

	a.runOutOfStock(p)
	p.stop()
}

// checkTemplate compares the template of a group with a node of it.
func (a autoscaler) checkTemplate(p *process) {
	a.t.Helper()
	res, err := a.NodeGroupTemplateNodeInfo(a.ctx(), &externalgrpc.NodeGroupTemplateNodeInfoRequest{Id: "small"})
	must(a.t)(res, err)
	n := &corev1.Node{}
	must(a.t)(nil, n.Unmarshal(res.NodeBytes))
	if cpu := n.Status.Allocatable.Cpu(); cpu.String() != "3500m" {
		a.t.Errorf("allocatable CPUs of the template: %v", cpu)
	}
	have := p.kubectl("get", "node", "small-1", "-o", `jsonpath={.status.allocatable.cpu} {.status.allocatable.memory} {.metadata.labels.disk} {.metadata.labels.node\.kubernetes\.io/instance-type}`)
	want := fmt.Sprintf("%s %s %s %s", n.Status.Allocatable.Cpu(), n.Status.Allocatable.Memory(), n.Labels["disk"], n.Labels[corev1.LabelInstanceTypeStable])
	if have != want {
		a.t.Errorf("the node has %q, the template %q", have, want)
	}
	types, err := a.GetAvailableGPUTypes(a.ctx(), &externalgrpc.GetAvailableGPUTypesRequest{})
	must(a.t)(types, err)
	if _, ok := types.GpuTypes["a100"]; !ok || len(types.GpuTypes) != 1 {
		a.t.Errorf("models of GPUs: %v", types.GpuTypes)
	}
	of, err := a.NodeGroupForNode(a.ctx(), &externalgrpc.NodeGroupForNodeRequest{Node: &externalgrpc.ExternalGrpcNode{Name: "x", Labels: n.Labels}})
	if must(a.t)(of, err); of.NodeGroup.Id != "small" {
		a.t.Errorf("the group of a node: %v", of)
	}
	of, err = a.NodeGroupForNode(a.ctx(), &externalgrpc.NodeGroupForNodeRequest{Node: &externalgrpc.ExternalGrpcNode{ProviderID: "fairlead://spot/spot-7"}})
	if must(a.t)(of, err); of.NodeGroup.Id != "spot" {
		a.t.Errorf("the group of an instance: %v", of)
	}
	of, err = a.NodeGroupForNode(a.ctx(), &externalgrpc.NodeGroupForNodeRequest{Node: &externalgrpc.ExternalGrpcNode{Name: "x"}})
	if must(a.t)(of, err); of.NodeGroup.Id != "" {
		a.t.Errorf("the group of a node of no group: %v", of)
	}
}

// checkPrices asks for prices of two hours, and for options.
func (a autoscaler) checkPrices() {
	a.t.Helper()
	from, to := &timestamppb.Timestamp{}, &timestamppb.Timestamp{Seconds: 7200}
	node, err := a.PricingNodePrice(a.ctx(), &externalgrpc.PricingNodePriceRequest{
		Node: &externalgrpc.ExternalGrpcNode{Labels: map[string]string{"fairlead.dev/node-group": "small"}}, StartTimestamp: from, EndTimestamp: to,
	})
	if must(a.t)(node, err); node.Price != 0.2 {
		a.t.Errorf("the price of a node: %v", node.Price)
	}
	pod, err := (&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": resource.MustParse("4")},
	}}}}}).Marshal()
	must(a.t)(nil, err)
	price, err := a.PricingPodPrice(a.ctx(), &externalgrpc.PricingPodPriceRequest{PodBytes: pod, StartTimestamp: from, EndTimestamp: to})
	if must(a.t)(price, err); price.Price != 0.04 {
		a.t.Errorf("the price of half a spot node: %v", price.Price)
	}
	options, err := a.NodeGroupGetOptions(a.ctx(), &externalgrpc.NodeGroupAutoscalingOptionsRequest{
		Id: "small", Defaults: &externalgrpc.NodeGroupAutoscalingOptions{ScaleDownUtilizationThreshold: 0.5, ScaleDownUnneededDuration: durationpb.New(patience)},
	})
	must(a.t)(options, err)
	if o := options.NodeGroupAutoscalingOptions; o.ScaleDownUtilizationThreshold != 0.5 || o.ScaleDownUnneededDuration.AsDuration().Seconds() != 5 {
		a.t.Errorf("options: %v", o)
	}
}

// runOutOfStock asks for more instances than there are, deletes the failed one, and brings a waiting one its stock.
func (a autoscaler) runOutOfStock(p *process) {
	t := a.t
	if err := a.increase("spot", 3); err != nil {
		t.Fatal(err)
	}
	p.kubectl("wait", "--for=create", "node/spot-1", "--timeout="+patience.String())
	const second, third = "fairlead://spot/spot-2", "fairlead://spot/spot-3"
	eventually(t, "the lack of stock", func() bool {
		all := a.instances("spot")
		return all[second] == "instanceCreating OUT_OF_STOCK" && all[third] == "instanceCreating OUT_OF_STOCK"
	})
	eventually(t, "an event", func() bool {
		return strings.Contains(p.kubectl("get", "events", "-n", "kube-system"), "Instance spot-2 of node group spot: OUT_OF_STOCK")
	})
	expect(t, "nodes groups", p.groups(), "spot    0     3     3      1       2         0        0.04")
	a.wantMetrics(p)
	if err := a.delete("spot", "spot/spot-3"); err != nil {
		t.Fatal(err)
	}
	if size := a.size("spot"); size != 2 {
		t.Errorf("the size without the failed instance: %d", size)
	}
	p.kubectl("delete", "node", "spot-1")
	p.kubectl("wait", "--for=create", "node/spot-2", "--timeout="+patience.String())
	decrease := func(delta int32) error {
		_, err := a.NodeGroupDecreaseTargetSize(a.ctx(), &externalgrpc.NodeGroupDecreaseTargetSizeRequest{Id: "spot", Delta: delta})
		return err
	}
	wantCode(t, codes.FailedPrecondition, nil, decrease(-1))
	if err := a.increase("spot", 2); err != nil {
		t.Fatal(err)
	}
	if err := decrease(-2); err != nil {
		t.Fatal(err)
	}
	if size := a.size("spot"); size != 1 {
		t.Errorf("the size after the decrease: %d", size)
	}
}

// wantMetrics waits for the metrics of a group with one node, without stock for two others.
func (a autoscaler) wantMetrics(p *process) {
	a.t.Helper()
	var lacks []string
	eventually(a.t, "the metrics of the groups", func() bool {
		lacks = nil
		text := p.kubectl("get", "--raw", "/metrics")
		for _, sample := range []string{
			`size_limit{group="spot",limit="min"} 0`, `size_limit{group="spot",limit="max"} 3`, `target_size{group="spot"} 3`, `price_per_hour{group="spot"} 0.04`,
			`instances{group="spot",state="node"} 1`, `instances{group="spot",state="out_of_stock"} 2`, `instances{group="spot",state="pending"} 0`, `instances{group="spot",state="failed"} 0`,
			`failures_total{code="OUT_OF_STOCK",group="spot"} 2`, `creation_duration_seconds_count{group="spot"} 1`, `creation_duration_seconds_count{group="small"} 2`,
			`target_size{group="small"} 1`, `price_per_hour{group="small"} 0.1`,
		} {
			if !strings.Contains(text, "\nfairlead_node_group_"+sample+"\n") {
				lacks = append(lacks, sample)
			}
		}
		return len(lacks) == 0
	})
}

// groups runs `fairlead nodes groups`.
func (p *process) groups(args ...string) string {
	p.t.Helper()
	out, err := exec.Command(bin.fairlead, append([]string{"nodes", "groups", "--kubeconfig", p.Kubeconfig}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("nodes groups: %v\n%s", err, out)
	}
	return string(out)
}

// TestNodeGroupsKilled kills the server while instances are being created, and others have failed: after the restart they come,
// under their names, and the failed ones are still there.
func TestNodeGroupsKilled(t *testing.T) {
	t.Parallel()
	const groups = groupsHead + `
groups:
- name: slow
  max: 9
  provisionTime: 3s
  template: [{status: {capacity: {cpu: "4"}}}]
- name: broken
  max: 9
  failures: [{rate: 1, code: QUOTA_EXCEEDED, message: no quota, class: Other}]
  template: [{status: {capacity: {cpu: "4"}}}]
`
	dir := t.TempDir()
	p, a := withGroups(t, dir, groups)
	for _, id := range []string{"slow", "broken"} {
		if err := a.increase(id, 3); err != nil {
			t.Fatal(err)
		}
	}
	const failed = "instanceCreating QUOTA_EXCEEDED"
	eventually(t, "the failure", func() bool { return a.instances("broken")["fairlead://broken/broken-3"] == failed })
	p.kill(syscall.SIGKILL)

	p, a = withGroups(t, dir, groups)
	if slow, broken := a.size("slow"), a.size("broken"); slow != 3 || broken != 3 {
		t.Errorf("sizes after the restart: %d and %d", slow, broken)
	}
	for i := 1; i <= 3; i++ {
		p.kubectl("wait", "--for=create", fmt.Sprint("node/slow-", i), "--timeout="+patience.String())
	}
	if is := a.instances("broken")["fairlead://broken/broken-1"]; is != failed {
		t.Errorf("broken-1 is %q", is)
	}
	expect(t, "nodes groups", p.groups("-o", "yaml"), "failed: 3")
	if err := a.delete("broken", "broken/broken-1", "broken/broken-2", "broken/broken-3"); err != nil {
		t.Fatal(err)
	}
	if err := a.increase("slow", 1); err != nil {
		t.Fatal(err)
	}
	p.kubectl("wait", "--for=create", "node/slow-4", "--timeout="+patience.String())

	// The state can be lost without harm to the nodes.
	p.kubectl("delete", "configmap", "-n", "kube-system", "fairlead-node-groups")
	p.stop()
	p, a = withGroups(t, dir, groups)
	if err := a.increase("slow", 1); err != nil {
		t.Fatal(err)
	}
	p.kubectl("wait", "--for=create", "node/slow-5", "--timeout="+patience.String())
	if got := p.nodeNames(); got != "node/slow-1 node/slow-2 node/slow-3 node/slow-4 node/slow-5" {
		t.Errorf("nodes: %s", got)
	}
	p.stop()
}

// TestNodeGroupsTLS serves groups with certificates, to a client that has one and to no other.
func TestNodeGroupsTLS(t *testing.T) {
	authority, err := pki.New(time.Now)
	must(t)(authority, err)
	serving, err := authority.Serving("127.0.0.1")
	must(t)(serving, err)
	key, err := x509.MarshalPKCS8PrivateKey(serving.PrivateKey)
	must(t)(key, err)
	certPEM, keyPEM, err := authority.Client("autoscaler")
	must(t)(nil, err)
	own, err := tls.X509KeyPair(certPEM, keyPEM)
	must(t)(own, err)
	files := func(typ string, b []byte) string {
		return writeFile(t, string(pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: b})))
	}
	address := freeAddress(t)
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0", "--node-groups="+writeFile(t, twoGroups), "--node-groups-address="+address,
		"--node-groups-cert-file="+files("CERTIFICATE", serving.Certificate[0]), "--node-groups-key-file="+files("PRIVATE KEY", key),
		"--node-groups-trusted-ca-file="+writeFile(t, string(authority.PEM())))
	a := dialGroups(t, address, credentials.NewTLS(&tls.Config{RootCAs: authority.Pool(), Certificates: []tls.Certificate{own}}))
	if size := a.size("small"); size != 1 {
		t.Errorf("the size of a group: %d", size)
	}
	stranger, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: authority.Pool()})))
	must(t)(stranger, err)
	defer stranger.Close()
	_, err = externalgrpc.NewCloudProviderClient(stranger).Refresh(a.ctx(), &externalgrpc.RefreshRequest{})
	wantCode(t, codes.Unavailable, nil, err)
	p.stop()
}

// TestNodeGroupsFile checks the errors of wrong files and flags.
func TestNodeGroupsFile(t *testing.T) {
	const cpu = "template: [{status: {capacity: {cpu: 4}}}]"
	for text, want := range map[string]string{
		"groups: [{name: a, max: 2, pricePerHour: -1, " + cpu + "}]":                            "groups[0].pricePerHour: Invalid value: -1",
		"groups: [{name: a, min: 3, max: 2, " + cpu + "}]":                                      "groups[0].min: Invalid value: 3: must not be greater than max",
		"groups: [{name: a, max: 2, " + cpu + "}, {name: a, max: 2, " + cpu + "}]":              `groups[1].name: Duplicate value: "a"`,
		"groups: [{name: a, max: 2, colour: red, " + cpu + "}]":                                 `unknown field "colour"`,
		"groups: [{name: a, max: 2}]":                                                           "groups[0].template: Required value",
		"groups: [{name: a, max: 2, template: [{kind: KubeletConfiguration}]}]":                 "groups[0].template: Invalid value",
		"groups: [{name: a, max: 2, template: [{status: {cpus: 4}}]}]":                          `groups[0].template: Invalid value: "a": error unmarshaling JSON: while decoding JSON: json: unknown field "cpus"`,
		"groups: [{name: a, max: 2, provisionTime: 2s..1s, " + cpu + "}]":                       "want a time such as 30s",
		"groups: [{name: a, max: 2, failures: [{rate: 2, code: X}], " + cpu + "}]":              "groups[0].failures[0].rate: Invalid value: 2",
		"groups: [{name: a, max: 2, failures: [{rate: 1, code: X, class: None}], " + cpu + "}]": `groups[0].failures[0].class: Unsupported value: "None"`,
		"groups: [{name: a, max: 2, stockOuts: [{after: 1m}], " + cpu + "}]":                    "groups[0].stockOuts[0].for: Invalid value",
		"groups: []": "groups: Required value",
	} {
		file := filepath.Join(t.TempDir(), "groups.yaml")
		if err := os.WriteFile(file, []byte(groupsHead+text), 0o644); err != nil {
			t.Fatal(err)
		}
		expect(t, text, refused(t, 2, "up", "--in-memory", "--data-dir", t.TempDir(), "--node-groups="+file), "--node-groups: "+file, want)
	}
	good := "--node-groups=" + writeFile(t, twoGroups)
	for flags, want := range map[string]string{
		good + " --adopt-nodes=false":                  "--node-groups excludes --adopt-nodes=false",
		good + " --clock=virtual":                      "--clock=virtual excludes --node-groups",
		good + " --node-groups-address=here":           "--node-groups-address: address here: missing port",
		good + " --node-groups-cert-file=/none":        "--node-groups-cert-file: serving certificate",
		"--node-groups=" + writeFile(t, "kind: Other"): "want apiVersion config.fairlead.dev/v1alpha1 and kind NodeGroups",
	} {
		args := append([]string{"up", "--in-memory", "--data-dir", t.TempDir()}, strings.Fields(flags)...)
		expect(t, flags, refused(t, 2, args...), want)
	}
}

// TestNodeGroupsMetricsOfNodes: nodes in a process of their own serve the metrics of their groups.
func TestNodeGroupsMetricsOfNodes(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0")
	defer p.stop()
	file := writeFile(t, groupsHead+"groups: [{name: one, min: 1, max: 2, pricePerHour: 0.5, template: [{}]}]\n")
	address := "127.0.0.1:" + freePort(t)
	port := freePort(t)
	p.part("nodes", "--nodes=0", "--node-groups="+file, "--node-groups-address="+address, "--secure-port="+port, "--bind-address=127.0.0.1")
	config := rest.CopyConfig(p.config())
	config.TLSClientConfig.Insecure, config.TLSClientConfig.CAData, config.TLSClientConfig.CAFile = true, nil, ""
	admin, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the group's node is counted", func() bool {
		res, err := admin.Get("https://127.0.0.1:" + port + "/metrics")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return err == nil && strings.Contains(string(text), `fairlead_node_group_instances{group="one",state="node"} 1`) &&
			strings.Contains(string(text), `fairlead_node_group_price_per_hour{group="one"} 0.5`)
	})
}
