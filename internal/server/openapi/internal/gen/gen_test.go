package main

import (
	"os"
	"testing"
)

// TestCurrent: facts.txt is what the types of go.mod's versions say.
func TestCurrent(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../facts.txt")
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != string(want) {
		t.Error("facts.txt is out of date: run go generate ./internal/server/openapi")
	}
}
