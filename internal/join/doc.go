// Package join joins nodes with an upstream kubelet to a cluster.
//
// On the side of the cluster, Prepare applies the objects that a joining node needs: the rules of bootstrap tokens and the ConfigMaps
// cluster-info, kubeadm-config and kubelet-config, by kubeadm's names and formats, so that `kubeadm join` works as well. Tokens
// are the Secrets of https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/.
//
// On the side of the node, Discover trusts the API server by a token and by hashes of its CA, Machine finds missing
// programs and settings, and Node writes the files and runs kubelet and kube-proxy. They only use the API, so the server may be any.
package join
