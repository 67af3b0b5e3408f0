// Package config is Grapnel's configuration: the home directory, the file
// config.toml in it, the environment overrides on top, and the choice of agent
// and provider that follows from them. It reads and checks; it starts nothing.
package config

// Config is the effective configuration: defaults, then the file, then the
// environment. The struct tags are the schema: toml names the key, enum lists
// the allowed values, min and max bound a number, doc explains it. A Config is
// not changed after Load returns it and may be read from any goroutine.
type Config struct {
	SchemaVersion int                 `toml:"schema_version" min:"1" max:"1" doc:"Version of this file's layout."`
	DataDir       string              `toml:"data_dir" doc:"Where sessions, audit log and harness state are kept; relative to the configuration directory."`
	ACP           ACP                 `toml:"acp" doc:"The Agent Client Protocol: sessions, turns and the harness host."`
	Autonomy      Autonomy            `toml:"autonomy" doc:"What agents may do without asking; [agents.<alias>.autonomy] overrides it key by key."`
	Providers     map[string]Provider `toml:"providers" doc:"Model providers by name."`
	Agents        map[string]Agent    `toml:"agents" doc:"Agents by alias; none means one agent named main."`
	Harnesses     map[string]Harness  `toml:"harnesses" doc:"External agents by id: entries added to the catalogue or changed in it."`
	MCP           MCP                 `toml:"mcp" doc:"Model Context Protocol servers."`
	Gateway       Gateway             `toml:"gateway" doc:"The daemon that serves sessions over the network."`
	Session       Session             `toml:"session" doc:"Conversations."`
	Bindings      []Binding           `toml:"bindings" doc:"Conversations that always go to one session."`
	Channels      Channels            `toml:"channels" doc:"Chat surfaces."`
	Tools         Tools               `toml:"tools" doc:"Limits on what tools may see."`
	Owners        map[string]Owner    `toml:"owners" doc:"Owners by name, for people who come in through chats."`
	Hooks         Hooks               `toml:"hooks" doc:"Commands run at points of a turn; each is an argument list that reads and writes JSON."`
	Telemetry     Telemetry           `toml:"telemetry" doc:"Logs and metrics."`

	home Home
	// implicit is set while main exists only because the file names no agent.
	implicit bool
}

// ACP is the [acp] section.
type ACP struct {
	Enabled                bool     `toml:"enabled" doc:"Whether external agents (harnesses) are hosted; grapnel acp itself is always served."`
	DefaultAgent           string   `toml:"default_agent" doc:"Alias of the agent a session gets when its client names none."`
	MaxSessions            int      `toml:"max_sessions" min:"1" doc:"Active sessions per owner."`
	SessionTimeoutSecs     int      `toml:"session_timeout_secs" min:"1" doc:"Seconds without activity after which a session is parked."`
	PermissionTimeoutSecs  int      `toml:"permission_timeout_secs" min:"0" doc:"Seconds a permission request waits before it is denied; 0 means session_timeout_secs."`
	TurnGraceMinutes       int      `toml:"turn_grace_minutes" min:"0" doc:"Minutes a turn runs on with nobody attached."`
	ConcurrentPrompt       string   `toml:"concurrent_prompt" enum:"queue|reject|steer" doc:"What happens to a prompt that arrives while a turn runs."`
	MaxMessageBytes        int64    `toml:"max_message_bytes" min:"1024" doc:"Size limit of one JSON-RPC message in bytes."`
	Dispatch               Dispatch `toml:"dispatch" doc:"Routing of bound conversations."`
	AllowedAgents          []string `toml:"allowed_agents" doc:"Harness ids a chat or a tool may spawn; empty allows every known one."`
	MaxConcurrentHarnesses int      `toml:"max_concurrent_harnesses" min:"0" doc:"Harness processes running at once."`
	Stream                 Stream   `toml:"stream" doc:"How turns are shown in chats."`
}

// Dispatch is [acp].dispatch.
type Dispatch struct {
	Enabled bool `toml:"enabled" doc:"Whether messages of bound conversations go to their harness automatically."`
}

// Stream is [acp].stream.
type Stream struct {
	Delivery string   `toml:"delivery" enum:"live|final" doc:"Whether a chat sees a message as it grows or once at the end."`
	Show     []string `toml:"show" enum:"tool_call|plan|usage" doc:"What a chat sees besides messages."`
}

// Autonomy is the [autonomy] section: the default policy.
type Autonomy struct {
	Level             string   `toml:"level" enum:"readonly|supervised|full" doc:"readonly refuses tools that act, supervised asks, full does not ask."`
	WorkspaceOnly     bool     `toml:"workspace_only" doc:"Whether tools stay inside the session's roots; level full turns it off."`
	ForbiddenPaths    []string `toml:"forbidden_paths" doc:"Paths no tool may touch, at any level."`
	AllowedRoots      []string `toml:"allowed_roots" doc:"Directories tools may use besides the session's own."`
	AllowedCommands   []string `toml:"allowed_commands" form:"command" doc:"Programs the shell tool may run; \"*\" allows any."`
	AutoApprove       []string `toml:"auto_approve" form:"pattern" doc:"Tools, by name or pattern, that run without asking."`
	AlwaysAsk         []string `toml:"always_ask" form:"pattern" doc:"Tools, by name or pattern, that always ask; stronger than auto_approve."`
	Deny              []string `toml:"deny" form:"pattern" doc:"Tools, by name or pattern, that are refused at every level; stronger than all the others."`
	MaxActionsPerHour int      `toml:"max_actions_per_hour" min:"0" doc:"Acting tool calls per hour; 0 is unlimited."`
	Sandbox           string   `toml:"sandbox" enum:"auto|landlock|bubblewrap|seatbelt|none" doc:"How commands are confined by the operating system."`
	SandboxRequired   bool     `toml:"sandbox_required" doc:"Whether commands are refused when no sandbox works."`
	Network           string   `toml:"network" enum:"allow|ask|deny" doc:"Whether sandboxed commands reach the network."`
}

// AutonomyOverride is [agents.<alias>.autonomy]: nil fields are inherited.
type AutonomyOverride struct {
	Level             *string  `toml:"level" enum:"readonly|supervised|full" doc:"Overrides autonomy.level."`
	WorkspaceOnly     *bool    `toml:"workspace_only" doc:"Overrides autonomy.workspace_only."`
	ForbiddenPaths    []string `toml:"forbidden_paths" doc:"Overrides autonomy.forbidden_paths."`
	AllowedRoots      []string `toml:"allowed_roots" doc:"Overrides autonomy.allowed_roots."`
	AllowedCommands   []string `toml:"allowed_commands" form:"command" doc:"Overrides autonomy.allowed_commands."`
	AutoApprove       []string `toml:"auto_approve" form:"pattern" doc:"Overrides autonomy.auto_approve."`
	AlwaysAsk         []string `toml:"always_ask" form:"pattern" doc:"Overrides autonomy.always_ask."`
	Deny              []string `toml:"deny" form:"pattern" doc:"Overrides autonomy.deny."`
	MaxActionsPerHour *int     `toml:"max_actions_per_hour" min:"0" doc:"Overrides autonomy.max_actions_per_hour."`
	Sandbox           *string  `toml:"sandbox" enum:"auto|landlock|bubblewrap|seatbelt|none" doc:"Overrides autonomy.sandbox."`
	SandboxRequired   *bool    `toml:"sandbox_required" doc:"Overrides autonomy.sandbox_required."`
	Network           *string  `toml:"network" enum:"allow|ask|deny" doc:"Overrides autonomy.network."`
}

// Telemetry is the [telemetry] section.
type Telemetry struct {
	LogLevel  string `toml:"log_level" enum:"debug|info|warn|error" doc:"Least severe messages logged."`
	LogFormat string `toml:"log_format" enum:"text|json" doc:"Form of log lines."`
	Metrics   bool   `toml:"metrics" doc:"Whether the gateway serves /metrics."`
}

// Home returns the home directory the configuration was loaded from.
func (c *Config) Home() Home { return c.home }
