package token

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// Paths at which others learn how to verify an issuer's tokens.
const (
	ConfigurationPath = "/.well-known/openid-configuration"
	KeysPath          = "/openid/v1/jwks"
)

type configuration struct {
	Issuer        string   `json:"issuer"`
	KeysURI       string   `json:"jwks_uri"`
	ResponseTypes []string `json:"response_types_supported"`
	SubjectTypes  []string `json:"subject_types_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
}

// Handler serves ConfigurationPath and KeysPath. keysURI is where clients find the keys, which may be another server.
func (i *Issuer) Handler(keysURI string) (http.Handler, error) {
	conf, err := json.Marshal(configuration{
		Issuer:        i.url,
		KeysURI:       keysURI,
		ResponseTypes: []string{"id_token"},
		SubjectTypes:  []string{"public"},
		Algorithms:    i.algorithms(),
	})
	if err != nil {
		return nil, err
	}
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: slices.Clone(i.keys)})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+ConfigurationPath, document("application/json", conf))
	mux.HandleFunc("GET "+KeysPath, document("application/jwk-set+json", keys))
	return mux, nil
}

// algorithms returns the algorithms of the keys, sorted.
func (i *Issuer) algorithms() (names []string) {
	for _, k := range i.keys {
		names = append(names, k.Algorithm)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func document(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "public, max-age=3600")
		w.Write(body)
	}
}
