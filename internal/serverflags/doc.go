// Package serverflags has the flags of kube-apiserver that several commands share, under kube-apiserver's names.
//
// # Contract
//
//   - A group of flags is a file: the flags it registers, and how it completes the options of a control plane.
//   - The defaults are those of the options that a command passes to Register: kube-apiserver allows everything
//     unless told otherwise, while a server of `fairlead up` asks Node and RBAC.
//   - The meaning, the format of values and files, and the errors of a flag are kube-apiserver's.
package serverflags
