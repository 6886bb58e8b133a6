//lint:file-ignore SA1019 Endpoints are deprecated, and served

package core

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/internal/resource"
)

var serviceTable = resource.TableOf(serviceRow,
	resource.NameColumn,
	resource.Text("Type", "How the service is made reachable."),
	resource.Text("Cluster-IP", "The address of the service within the cluster."),
	resource.Text("External-IP", "Addresses at which the service is reachable from outside."),
	resource.Text("Port(s)", "Ports of the service, with their node ports and protocols."),
	resource.AgeColumn,
	resource.WideOnly(resource.Text("Selector", "Labels of the pods behind the service.")),
)

func serviceRow(s *corev1.Service) []any {
	ip := resource.None
	if len(s.Spec.ClusterIPs) > 0 {
		ip = s.Spec.ClusterIPs[0]
	}
	return []any{
		s.Name,
		string(s.Spec.Type),
		ip,
		externalIP(s),
		cmp.Or(portList(s.Spec.Ports), resource.None),
		resource.AgeOf(s),
		labels.FormatLabels(s.Spec.Selector),
	}
}

func externalIP(s *corev1.Service) string {
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return cmp.Or(strings.Join(s.Spec.ExternalIPs, ","), resource.None)
	case corev1.ServiceTypeLoadBalancer:
		ips := make([]string, 0, len(s.Status.LoadBalancer.Ingress))
		for _, in := range s.Status.LoadBalancer.Ingress {
			if at := cmp.Or(in.IP, in.Hostname); at != "" {
				ips = append(ips, at)
			}
		}
		slices.Sort(ips)
		return cmp.Or(strings.Join(append(slices.Compact(ips), s.Spec.ExternalIPs...), ","), "<pending>")
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName
	}
	return resource.Unknown
}

func portList(ports []corev1.ServicePort) string {
	words := make([]string, len(ports))
	for i, p := range ports {
		if p.NodePort > 0 {
			words[i] = fmt.Sprintf("%d:%d/%s", p.Port, p.NodePort, p.Protocol)
		} else {
			words[i] = fmt.Sprintf("%d/%s", p.Port, p.Protocol)
		}
	}
	return strings.Join(words, ",")
}

var endpointsTable = resource.TableOf(func(e *corev1.Endpoints) []any {
	return []any{e.Name, endpointList(e.Subsets), resource.AgeOf(e)}
},
	resource.NameColumn,
	resource.Text("Endpoints", "Addresses and ports that are ready."),
	resource.AgeColumn,
)

func endpointList(subsets []corev1.EndpointSubset) string {
	var all []string
	for _, s := range subsets {
		if len(s.Ports) == 0 {
			for _, a := range s.Addresses {
				all = append(all, a.IP)
			}
		}
		for _, p := range s.Ports {
			for _, a := range s.Addresses {
				all = append(all, net.JoinHostPort(a.IP, strconv.Itoa(int(p.Port))))
			}
		}
	}
	if len(subsets) == 0 {
		return resource.None
	}
	return resource.JoinFirstThree(all, "")
}
