// Package certificates is the controller of CertificateSigningRequests: it approves kubelets' requests for client
// certificates, signs approved requests for Kubernetes' own signers, and deletes expired requests.
//
// The API server decides which requests may be approved: a SubjectAccessReview must allow the requestor to create
// certificatesigningrequests/nodeclient, or /selfnodeclient if the certificate is the requestor's own. An approved
// request that breaks the signer's rules gets the condition Failed. Times, messages and rules are those of
// kube-controller-manager (csrapproving, csrsigning and csrcleaner). One rule is Fairlead's own: the request of a
// bootstrap token for the name of a simulated node gets the condition Denied, reason NodeNameTaken.
package certificates
