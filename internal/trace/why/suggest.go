package why

import (
	"fmt"
	"regexp"
	"strings"
)

// kubectl returns a command about the subject.
func (s *Subject) kubectl(args ...string) string {
	if s.Namespace != "" {
		args = append([]string{"-n", s.Namespace}, args...)
	}
	return "kubectl " + strings.Join(args, " ")
}

// named names the subject for a command: deployment/web.
func (s *Subject) named() string { return strings.ToLower(s.Kind) + "/" + s.Name }

// absentObject matches the message of a kubelet about an object that a pod refers to.
var absentObject = regexp.MustCompile(`\b(secret|configmap) "([^"/]+)" not found`)

// suggestions are the next steps for the reason, or a part of the message, of a problem.
var suggestions = []struct{ reason, message, next string }{
	{"ImagePullBackOff", "", "correct the image's name, or give the pod credentials of its registry (imagePullSecrets)"},
	{"ErrImagePull", "", "correct the image's name, or give the pod credentials of its registry (imagePullSecrets)"},
	{"InvalidImageName", "", "correct the image's name"},
	{"ErrImageNeverPull", "", "load the image on the node, or change imagePullPolicy from Never"},
	{"Unschedulable", "no nodes available", "add a node: fairlead up --nodes=1, or fairlead join"},
	{"Unschedulable", "Insufficient", "lower the pod's requests, delete other pods, or add nodes"},
	{"Unschedulable", "untolerated taint", "add a toleration to the pod, or remove the taint: kubectl taint nodes NODE KEY-"},
	{"Unschedulable", "node affinity/selector", "label a node as the pod asks: kubectl label node NODE KEY=VALUE, or change the pod's nodeSelector and affinity"},
	{"FailedCreate", "exceeded quota", "raise the quota, or lower the requests: kubectl describe quota"},
	{"FailedGetResourceMetric", "", "do the pods have requests, and does kubectl top pods answer?"},
	{"ProgressDeadlineExceeded", "", "look at its pods; undo the rollout: kubectl rollout undo"},
}

// suggest returns the next step for a problem with a reason and a message, or "". container is the name of its container.
func suggest(s *Subject, reason, message string, container ...string) string {
	if hit := absentObject.FindStringSubmatch(message); hit != nil {
		kind := map[string]string{"secret": "secret generic", "configmap": "configmap"}[hit[1]]
		return fmt.Sprintf("create it: %s", s.kubectl("create", kind, hit[2], "--from-literal=KEY=VALUE"))
	}
	if reason == "CrashLoopBackOff" && len(container) > 0 {
		return s.kubectl("logs", s.Name, "-c", container[0], "--previous")
	}
	if s.Kind == "Job" && (reason == "BackoffLimitExceeded" || reason == "PodFailurePolicy") {
		return s.kubectl("logs", s.named(), "--all-pods")
	}
	for _, g := range suggestions {
		if g.reason == reason && strings.Contains(message, g.message) {
			return g.next
		}
	}
	return ""
}
