package v1

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Methods outside the schema that peers in the field use.
const (
	// MethodSessionSetModel chose a model before config options did. It was
	// removed from the protocol; older clients still call it.
	MethodSessionSetModel = "session/set_model"
	// MethodSessionSteering adds to a running turn. An agent that has it says
	// so by _meta.steering.supported in the result of initialize.
	MethodSessionSteering = "_session/steering"
)

// SessionModelState is the member models that older clients read from the
// results of session/new, session/load, session/resume and session/fork.
type SessionModelState struct {
	AvailableModels []ModelInfo `json:"availableModels"`
	CurrentModelID  string      `json:"currentModelId"`
}

// ModelInfo is one model of a SessionModelState.
type ModelInfo struct {
	ModelID     string  `json:"modelId"`
	Name        string  `json:"name"`
	Description *string `json:"description,omitzero"`
}

// SetSessionModelRequest is the params of session/set_model; its result is {}.
type SetSessionModelRequest struct {
	SessionID SessionID `json:"sessionId"`
	ModelID   string    `json:"modelId"`
}

// SteeringRequest is the params of _session/steering.
type SteeringRequest struct {
	SessionID SessionID      `json:"sessionId"`
	Prompt    []ContentBlock `json:"prompt"`
	Meta      jsontext.Value `json:"_meta,omitzero"`
}

// SteeringOutcome says what became of a SteeringRequest.
type SteeringOutcome string

// The values of SteeringOutcome.
const (
	SteeringInjected       SteeringOutcome = "injected"
	SteeringStartedNewTurn SteeringOutcome = "startedNewTurn"
	SteeringFailed         SteeringOutcome = "failed"
	SteeringPromptRequired SteeringOutcome = "promptRequired" // only where the request allows it
)

// SteeringResponse is the result of _session/steering.
type SteeringResponse struct {
	Outcome SteeringOutcome `json:"outcome"`
}

// SetModels adds the member models to extra, the Extra of a result.
func SetModels(extra *jsontext.Value, models *SessionModelState) error {
	members := map[string]jsontext.Value{}
	if len(*extra) > 0 {
		if err := json.Unmarshal(*extra, &members); err != nil {
			return fmt.Errorf("cannot add models to a result: %w", err)
		}
	}
	value, err := json.Marshal(models)
	if err != nil {
		return fmt.Errorf("cannot add models to a result: %w", err)
	}
	members["models"] = value
	*extra, err = json.Marshal(members, json.Deterministic(true))
	return err
}

// Models returns the member models of extra, the Extra of a result; nil when
// there is none that can be read.
func Models(extra jsontext.Value) *SessionModelState {
	var legacy struct {
		Models *SessionModelState `json:"models"`
	}
	if len(extra) == 0 || json.Unmarshal(extra, &legacy) != nil {
		return nil
	}
	return legacy.Models
}
