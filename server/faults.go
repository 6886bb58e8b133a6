package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/faults"
)

// FaultsPath lists injected faults (GET), adds one (POST of a faults.Fault), and removes all
// (DELETE) or one, by its number below the path. A server without Config.Faults answers 403.
const FaultsPath = "/debug/faults"

// FaultList is the response of FaultsPath.
type FaultList struct {
	Faults []faults.Fault `json:"faults"`
}

// faults serves FaultsPath.
func (c *serving) faults(id string) error {
	set := c.s.cfg.Faults
	if set == nil {
		return apistatus.New(http.StatusForbidden, metav1.StatusReasonForbidden, "fault injection is disabled; start the server with --allow-faults")
	}
	number := uint64(0)
	if id != "" {
		var err error
		if number, err = strconv.ParseUint(id, 10, 64); err != nil || number == 0 {
			return apistatus.ErrPathNotFound
		}
	}
	switch {
	case c.HTTP.Method == http.MethodGet && id == "":
		return c.WriteJSON(http.StatusOK, FaultList{set.List()})
	case c.HTTP.Method == http.MethodPost && id == "":
		body, err := c.Body()
		if err != nil {
			return err
		}
		var f faults.Fault
		in := json.NewDecoder(strings.NewReader(string(body)))
		in.DisallowUnknownFields()
		if err := in.Decode(&f); err != nil {
			return apierrors.NewBadRequest("no fault: " + err.Error())
		}
		if f, err = set.Add(c.Context, f); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		return c.WriteJSON(http.StatusCreated, f)
	case c.HTTP.Method == http.MethodDelete:
		if errors.Is(set.Remove(number), faults.ErrNotFound) {
			return apistatus.New(http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("there is no fault %d", number))
		}
		return c.WriteJSON(http.StatusOK, FaultList{set.List()})
	}
	return apistatus.MethodNotAllowed()
}
