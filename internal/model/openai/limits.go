package openai

import (
	"strings"

	"github.com/openai/openai-go/v3/shared"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/price"
)

// family is what is publicly known of the models whose id begins with prefix.
type family struct {
	prefix    string
	window    int // tokens
	maxOutput int // tokens
	reasons   bool
	least     shared.ReasoningEffort // least effort the models take
}

// families lists longer prefixes before shorter ones.
var families = [...]family{
	{"gpt-5-chat", 128_000, 16_384, false, ""},
	{"gpt-5-codex", 400_000, 128_000, true, shared.ReasoningEffortLow},
	{"gpt-5.4", 1_050_000, 128_000, true, shared.ReasoningEffortNone},
	{"gpt-5.5", 1_050_000, 128_000, true, shared.ReasoningEffortNone},
	{"gpt-5.", 400_000, 128_000, true, shared.ReasoningEffortNone},
	{"gpt-5", 400_000, 128_000, true, shared.ReasoningEffortMinimal},
	{"gpt-4.1", 1_047_576, 32_768, false, ""},
	{"gpt-4o", 128_000, 16_384, false, ""},
	{"o1", 200_000, 100_000, true, shared.ReasoningEffortLow},
	{"o3", 200_000, 100_000, true, shared.ReasoningEffortLow},
	{"o4-mini", 200_000, 100_000, true, shared.ReasoningEffortLow},
}

func lookup(id string) (family, bool) {
	for _, f := range families {
		if strings.HasPrefix(id, f.prefix) {
			return f, true
		}
	}
	return family{}, false
}

// textOnly reports the models of known families that take no images.
func textOnly(id string) bool {
	return strings.HasPrefix(id, "o1-mini") || strings.HasPrefix(id, "o1-preview") || strings.HasPrefix(id, "o3-mini")
}

func reasons(id string) bool {
	f, _ := lookup(id)
	return f.reasons
}

func leastEffort(id string) shared.ReasoningEffort {
	f, _ := lookup(id)
	return f.least
}

// Info implements model.Provider.
func (p *Provider) Info(id string) model.Info {
	if id == "" {
		id = p.ep.Config.Model
	}
	f, known := lookup(id)
	info := model.Info{ContextWindow: f.window, MaxOutput: f.maxOutput, Images: known && !textOnly(id), Price: p.ep.Price}
	if f.reasons || !known {
		info.Thinking = []model.Level{model.LevelOff, model.LevelLow, model.LevelMedium, model.LevelHigh}
	}
	if p.ep.ContextWindow > 0 {
		info.ContextWindow = p.ep.ContextWindow
	}
	if info.Price == nil {
		info.Price = price.Lookup(id)
	}
	return info
}
