package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/config"
)

const (
	// reachBound is how long a provider may take to answer.
	reachBound = 5 * time.Second
	// maxModels bounds a list of models in bytes.
	maxModels = 8 << 20
	// anthropicVersion is the version of the API that is asked for its models.
	anthropicVersion = "2023-06-01"
)

// Provider says which provider an agent uses and why; err is why it has none.
func Provider(agent string, p config.ProviderChoice, err error) Finding {
	if err != nil {
		return fail("provider", "run grapnel setup", "agent %s has no usable provider: %v", agent, err)
	}
	why := "as configured"
	switch {
	case strings.HasSuffix(p.Found, "_KEY"):
		why = "because " + p.Found + " is set"
	case p.Found != "":
		why = "because a server answers at " + p.Found
	}
	return ok("provider", "agent %s uses %s with model %s, %s", agent, p.Name, p.Model, why)
}

// Credentials says whether the provider's secrets are where they are said to be.
func Credentials(p config.ProviderChoice, err error) Finding {
	switch {
	case err != nil:
		return fail("credentials", "put the key in place, or run grapnel setup", "%v", err)
	case p.APIKey.IsZero():
		return ok("credentials", "%s is used without a key", p.Name)
	}
	return ok("credentials", "the key of %s is in place (%s)", p.Name, p.APIKey)
}

// Reach asks the provider for its models: is it there, does it take the key, has
// it the model? It waits five seconds at most.
func Reach(ctx context.Context, client *http.Client, p config.ProviderChoice, secrets config.Credentials) Finding {
	return reach(ctx, client, p, secrets, reachBound)
}

func reach(ctx context.Context, client *http.Client, p config.ProviderChoice, secrets config.Credentials, bound time.Duration) Finding {
	if p.Kind == config.KindDemo {
		return ok("network", "%s is built in and needs no network", p.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, modelsURL(p), nil)
	if err != nil {
		return fail("network", "correct its base_url", "the address of %s is not usable", p.Name)
	}
	authorize(req.Header, p, secrets)
	resp, err := client.Do(req)
	if err != nil {
		return fail("network", "check the address, the network and the proxy settings (HTTPS_PROXY, NO_PROXY)", "%s does not answer at %s: %v", p.Name, req.URL.Host, cause(err, bound))
	}
	defer resp.Body.Close()
	return judge(p, req.URL.Host, resp)
}

// modelsURL is where the provider lists its models; the rules for the base URL
// are those of the providers.
func modelsURL(p config.ProviderChoice) string {
	base := strings.TrimRight(p.BaseURL, "/")
	if p.Kind == config.KindAnthropic {
		return strings.TrimSuffix(base, "/v1") + "/v1/models"
	}
	if u, err := url.Parse(base); err == nil && u.Path == "" {
		base += "/v1"
	}
	return base + "/models"
}

func authorize(h http.Header, p config.ProviderChoice, secrets config.Credentials) {
	switch {
	case p.Kind == config.KindAnthropic:
		h.Set("Anthropic-Version", anthropicVersion)
		if secrets.APIKey != "" {
			h.Set("X-Api-Key", secrets.APIKey)
		}
	case secrets.APIKey != "":
		h.Set("Authorization", "Bearer "+secrets.APIKey)
	}
	for name, value := range secrets.Headers {
		h.Set(name, value)
	}
}

// cause leaves out the address, which an error of the client begins with and
// which may carry more than the host.
func cause(err error, bound time.Duration) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer in %v", bound)
	}
	return err
}

func judge(p config.ProviderChoice, host string, resp *http.Response) Finding {
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		return judgeModels(p, host, resp.Body)
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fail("network", "give it a key that is valid, for instance with grapnel setup", "%s at %s refuses the key (%s)", p.Name, host, resp.Status)
	case code == http.StatusTooManyRequests, code >= 500:
		return warn("network", "try again later, or look at the provider's status page", "%s at %s answers, but with %s", p.Name, host, resp.Status)
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		return ok("network", "%s answers at %s, which lists no models", p.Name, host)
	default:
		return warn("network", "check its base_url", "%s at %s answers with %s", p.Name, host, resp.Status)
	}
}

func judgeModels(p config.ProviderChoice, host string, body io.Reader) Finding {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
		HasMore bool `json:"has_more"`
	}
	err := json.UnmarshalRead(io.LimitReader(body, maxModels), &list)
	if err != nil || len(list.Data) == 0 || list.HasMore {
		return ok("network", "%s answers at %s", p.Name, host)
	}
	for _, m := range list.Data {
		// Gemini's ids begin with models/, Ollama's end with a tag.
		id := strings.TrimPrefix(m.ID, "models/")
		if id == p.Model || strings.HasPrefix(id, p.Model+":") || strings.HasPrefix(id, p.Model+"-") {
			return ok("network", "%s answers at %s and has %s", p.Name, host, p.Model)
		}
	}
	return warn("network", "choose a model it has", "%s answers at %s, but does not list the model %s among its %d", p.Name, host, p.Model, len(list.Data))
}
