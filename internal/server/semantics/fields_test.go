package semantics_test

import (
	"encoding/json"
	"io"
	"strings"
)

// labels are the field labels of any kind.
var labels = strings.Fields(`
	metadata.name metadata.namespace spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName
	spec.hostNetwork spec.unschedulable status.phase status.podIP status.podIPs status.nominatedNodeName
	type status.replicas status.successful spec.signerName spec.clusterIP spec.type
	spec.driver spec.podName reason reportingComponent source involvedObject.kind
	involvedObject.namespace involvedObject.name involvedObject.uid involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath
	regarding.kind regarding.namespace regarding.name regarding.uid regarding.apiVersion regarding.resourceVersion
	regarding.fieldPath reportingController spec.replicas spec.host spec.ingressClassName
`)

// fields prints the field labels that a kind supports, and its error for an unknown one. For a path that is not
// served it prints only that.
func (r *run) fields(path string) string {
	code, said := r.field(path, "no.such")
	if code == 404 {
		return "not served\n"
	}
	var known []string
	for _, label := range labels {
		if code, _ := r.field(path, label); code == 200 {
			known = append(known, label)
		}
	}
	return strings.Join(known, " ") + "\n" + said + "\n"
}

func (r *run) field(path, label string) (code int, said string) {
	resp := r.request("GET", path+"?fieldSelector="+label+"%3Dnone", nil, "", r.g.two)
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	var s struct{ Message string }
	_ = json.Unmarshal(data, &s)
	return resp.StatusCode, s.Message
}
