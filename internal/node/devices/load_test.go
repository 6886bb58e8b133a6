package devices_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/internal/node/devices"
)

// A file that is wrong is refused, with its name and what is wrong.
func TestLoadRefuses(t *testing.T) {
	const model = "{name: h100, count: 2, capacity: {memory: 80Gi}}"
	for text, want := range map[string]string{
		"": "models: Required value",
		"driver: gpu.example.com\nmodels: [" + model + "]\nmodel: x":                                                                    `unknown field "model"`,
		"driver: GPU\nmodels: [" + model + "]":                                                                                          `driver: Invalid value: "GPU"`,
		"driver: g\nmodels: [" + model + "," + model + "]":                                                                              `models[1].name: Duplicate value: "h100"`,
		"driver: g\nmodels: [{name: h100, count: 0}]":                                                                                   "models[0].count: Invalid value: 0: must be from 1 to 1024",
		"driver: g\nmodels: [{name: h.100, count: 1}]":                                                                                  `models[0].name: Invalid value: "h.100"`,
		"driver: g\nmodels: [{name: a, count: 1, capacity: {memory: 0}}]":                                                               "models[0].capacity[memory]: Invalid value: \"0\": must be greater than 0",
		"driver: g\nmodels: [{name: a, count: 1, capacity: {memory: lots}}]":                                                            "quantities must match",
		"driver: g\nmodels: [{name: a, count: 1, attributes: {speed: 1.5}}]":                                                            "models[0].attributes[speed]: Invalid value: 1.5: must be a text, a whole number, true or false",
		"driver: g\nmodels: [{name: a, count: 1, attributes: {model: x}}]":                                                              "each device has it already",
		"driver: g\nmodels: [{name: a, count: 1, capacity: {memory: 1Gi}, partitions: [{name: p, count: 2, capacity: {memory: 2Gi}}]}]": `models[0].partitions[0].capacity[memory]: Invalid value: "2Gi": the device has less`,
		"driver: g\nmodels: [" + model + "]\nfailures: {rate: 2}":                                                                       "failures.rate: Invalid value: 2: must be from 0 to 1",
		"driver: g\nmodels: [" + model + "]\nfailures: {effect: Explode}":                                                               `failures.effect: Unsupported value: "Explode"`,
		"driver: g\nextendedResourceName: example.com/gpu\nmodels: [" + model + "]":                                                     "needs a class",
	} {
		file := filepath.Join(t.TempDir(), "gpus.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := devices.Load(file); err == nil || !strings.HasPrefix(err.Error(), file) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}
