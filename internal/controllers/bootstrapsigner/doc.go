// Package bootstrapsigner signs the ConfigMap cluster-info in kube-public with the bootstrap tokens: for each token that may
// sign, the data has a detached JWS of the kubeconfig, by which a node that knows the token trusts what an anonymous request
// has read. Signatures of tokens that are gone are removed.
//
// The format is that of kubeadm (k8s.io/cluster-bootstrap/token/jws).
package bootstrapsigner
