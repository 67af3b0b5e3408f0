package config

import "github.com/grapnel-ai/grapnel/internal/secret"

// The two drivers of an agent.
const (
	DriverNative = "native" // a model and Grapnel's tools
	DriverACP    = "acp"    // an external agent
)

// Provider is one [providers.<name>] section.
type Provider struct {
	Kind          string                `toml:"kind" enum:"anthropic|openai|openai-chat|demo|ollama|lmstudio|vllm|openrouter|gemini|groq|deepseek|mistral|xai" doc:"Protocol: anthropic (Messages), openai (Responses), openai-chat (any compatible server), demo (built in, offline); the others are openai-chat with a known address. Absent: the provider's name."`
	BaseURL       string                `toml:"base_url" doc:"Address of the API; each kind has its own default."`
	APIKey        secret.Ref            `toml:"api_key" doc:"Key: env:NAME, file:PATH, cmd:COMMAND or the key itself; absent means the kind's usual environment variable."`
	Model         string                `toml:"model" doc:"Model name; each kind has its own default."`
	Headers       map[string]secret.Ref `toml:"headers" doc:"Extra HTTP headers; values may be secret references."`
	ContextWindow int                   `toml:"context_window" min:"0" doc:"Tokens the model takes; 0 means the kind's default."`
	Fallback      []string              `toml:"fallback" doc:"Providers tried in turn when this one fails."`
}

// Agent is one [agents.<alias>] section.
type Agent struct {
	Enabled       bool             `toml:"enabled" doc:"Whether sessions may use the agent."`
	Provider      string           `toml:"provider" doc:"Name of its provider; absent means the only one, or what the environment offers."`
	Model         string           `toml:"model" doc:"Model name; overrides the provider's."`
	Workspace     string           `toml:"workspace" doc:"The agent's own directory; absent means agents/<alias>/workspace."`
	SystemPrompt  string           `toml:"system_prompt" doc:"Text that opens the agent's system prompt in place of Grapnel's own."`
	MaxIterations int              `toml:"max_iterations" min:"1" doc:"Model requests per turn."`
	MCPServers    []string         `toml:"mcp_servers" doc:"Names of MCP servers whose tools it gets."`
	Autonomy      AutonomyOverride `toml:"autonomy" doc:"Policy of this agent where it differs from [autonomy]."`
	Runtime       Runtime          `toml:"runtime" doc:"What runs the agent."`
}

// Runtime is [agents.<alias>.runtime].
type Runtime struct {
	Type  string `toml:"type" enum:"native|acp" doc:"native is Grapnel's own agent, acp an external one."`
	Agent string `toml:"agent" doc:"Harness id, for type acp."`
	Mode  string `toml:"mode" enum:"persistent|oneshot" doc:"Whether the harness keeps its session between prompts."`
	Cwd   string `toml:"cwd" doc:"Working directory, for type acp."`
}

// Driver returns DriverNative or DriverACP.
func (a Agent) Driver() string {
	if a.Runtime.Type == DriverACP {
		return DriverACP
	}
	return DriverNative
}

// Harness is one [harnesses.<id>] section. Zero values and nil leave what the
// catalogue says, and DefaultHarness where it says nothing.
type Harness struct {
	Command                   string                `toml:"command" doc:"Program to start."`
	Args                      []string              `toml:"args" doc:"Its arguments."`
	Env                       map[string]secret.Ref `toml:"env" doc:"Its environment besides the basics; values may be secret references."`
	PermissionMode            string                `toml:"permission_mode" enum:"approve-all|approve-reads|deny-all|ask" doc:"How its permission requests are answered."`
	NonInteractivePermissions string                `toml:"non_interactive_permissions" enum:"fail|deny" doc:"What happens to a request nobody can answer."`
	StartTimeoutSecs          *int                  `toml:"start_timeout_secs" min:"1" doc:"Seconds it has to answer initialize."`
	IdleTTLMinutes            *int                  `toml:"idle_ttl_minutes" min:"0" doc:"Idle minutes after which its process ends; the session stays."`
	Warm                      *int                  `toml:"warm" min:"0" doc:"Processes kept ready."`
	AskMode                   string                `toml:"ask_mode" doc:"Session mode set so that it asks before acting."`
	MCPServers                []string              `toml:"mcp_servers" doc:"Names of MCP servers it gets."`
	GrapnelTools              []string              `toml:"grapnel_tools" doc:"Grapnel's own tools offered to it as an MCP server."`
}

// MCP is the [mcp] section.
type MCP struct {
	Servers map[string]MCPServer `toml:"servers" doc:"MCP servers by name."`
}

// MCPServer is one [mcp.servers.<name>] section.
type MCPServer struct {
	Transport   string                `toml:"transport" enum:"stdio|http|sse" doc:"How it is reached."`
	Command     string                `toml:"command" doc:"Program to start, for stdio."`
	Args        []string              `toml:"args" doc:"Its arguments."`
	Env         map[string]secret.Ref `toml:"env" doc:"Its environment besides the basics; values may be secret references."`
	URL         string                `toml:"url" doc:"Its address, for http and sse."`
	Headers     map[string]secret.Ref `toml:"headers" doc:"Extra HTTP headers; values may be secret references."`
	TimeoutSecs int                   `toml:"timeout_secs" min:"1" doc:"Seconds one call may take without a sign of life."`
	Sandbox     bool                  `toml:"sandbox" doc:"Run its process in the session's sandbox where one works."`
}
