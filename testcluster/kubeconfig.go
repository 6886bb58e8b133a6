package testcluster

import (
	"errors"
	"os"

	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
)

// readKubeconfig reads a kubeconfig that fairlead wrote: it has one cluster and one user, by a client certificate.
func readKubeconfig(path string) (*rest.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Cert []byte `json:"client-certificate-data"`
				Key  []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if len(file.Clusters) != 1 || len(file.Users) != 1 {
		return nil, errors.New(path + " has not one cluster and one user")
	}
	cluster, user := file.Clusters[0].Cluster, file.Users[0].User
	return &rest.Config{Host: cluster.Server, TLSClientConfig: rest.TLSClientConfig{CAData: cluster.CA, CertData: user.Cert, KeyData: user.Key}}, nil
}
