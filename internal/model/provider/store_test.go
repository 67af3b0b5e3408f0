package provider_test

import (
	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/model"
)

func storeAndLoad(m model.Message) (model.Message, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return model.Message{}, err
	}
	var got model.Message
	err = json.Unmarshal(b, &got)
	return got, err
}
