package price

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// USD is the currency of prices that name none.
const USD = "USD"

// Bill is what something has cost, by currency. The nil Bill is empty. In JSON it
// is a number where all of it is US dollars, else an object.
type Bill map[string]Money

// Add returns the sum of two bills; neither is changed.
func (b Bill) Add(o Bill) Bill {
	if len(o) == 0 {
		return b
	}
	sum := make(Bill, len(b)+len(o))
	maps.Copy(sum, b)
	for currency, m := range o {
		sum[currency] = sum[currency].Add(m)
	}
	return sum
}

// Currencies lists the currencies in order.
func (b Bill) Currencies() []string { return slices.Sorted(maps.Keys(b)) }

// String is the bill for people, "" when it is empty.
func (b Bill) String() string {
	var parts []string
	for _, currency := range b.Currencies() {
		parts = append(parts, b[currency].Short()+" "+currency)
	}
	return strings.Join(parts, " and ")
}

// MarshalJSONTo implements json.MarshalerTo.
func (b Bill) MarshalJSONTo(enc *jsontext.Encoder) error {
	if usd, ok := b[USD]; ok && len(b) == 1 {
		return enc.WriteValue(jsontext.Value(usd.String()))
	}
	object := make(map[string]jsontext.Value, len(b))
	for currency, m := range b {
		object[currency] = jsontext.Value(m.String())
	}
	return json.MarshalEncode(enc, object, json.Deterministic(true))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (b *Bill) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	object := make(map[string]jsontext.Value)
	if dec.PeekKind() == jsontext.KindNumber {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		object[USD] = v.Clone()
	} else if err := json.UnmarshalDecode(dec, &object); err != nil {
		return err
	}
	*b = make(Bill, len(object))
	for currency, v := range object {
		m, err := parseMoney(string(v))
		if err != nil {
			return fmt.Errorf("%s is %w", v, err)
		}
		(*b)[currency] = m
	}
	return nil
}
