package session

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// WithoutGrants returns what is left of Info.Grants, an array in the driver's own
// form, when the items of taken are taken back. Items are compared as JSON
// values; one that is not held is no error.
func WithoutGrants(held, taken jsontext.Value) (jsontext.Value, error) {
	have, err := grantItems(held)
	if err != nil {
		return nil, fmt.Errorf("the grants of this session cannot be read: %w", err)
	}
	gone, err := grantItems(taken)
	if err != nil {
		return nil, Invalidf("the grants to take back are not a list: %v", err)
	}
	left := []jsontext.Value{}
	for _, item := range have {
		if !containsValue(gone, item) {
			left = append(left, item)
		}
	}
	return json.Marshal(left)
}

// grantItems are the items of an array, each in canonical form.
func grantItems(list jsontext.Value) ([]jsontext.Value, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var items []jsontext.Value
	if err := json.Unmarshal(list, &items); err != nil {
		return nil, err
	}
	for i := range items {
		if err := items[i].Canonicalize(); err != nil {
			return nil, err
		}
	}
	return items, nil
}

func containsValue(list []jsontext.Value, v jsontext.Value) bool {
	for _, item := range list {
		if bytes.Equal(item, v) {
			return true
		}
	}
	return false
}
