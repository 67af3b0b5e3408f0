package config

import "github.com/grapnel-ai/grapnel/internal/secret"

// Gateway is the [gateway] section.
type Gateway struct {
	Host           string   `toml:"host" doc:"Address it listens on."`
	Port           int      `toml:"port" min:"0" max:"65535" doc:"Port it listens on; 0 picks one."`
	PathPrefix     string   `toml:"path_prefix" doc:"Prefix of every path, for use behind a proxy."`
	RequirePairing bool     `toml:"require_pairing" doc:"Whether new clients get a token by a one-time code; without, only tokens that were created or set let them in."`
	AllowedOrigins []string `toml:"allowed_origins" doc:"Web origins let in besides its own, such as https://chat.example.com:8443 for pages from there."`
	AllowedHosts   []string `toml:"allowed_hosts" doc:"Names it is reached by besides its own address, as in the Host header: with a port, or without for any."`
	TrustedProxies []string `toml:"trusted_proxies" doc:"Addresses or networks of reverse proxies whose forwarded headers count."`
	ClientMCPStdio bool     `toml:"client_mcp_stdio" doc:"Whether MCP servers that remote clients bring are started here when they are commands; those of clients on this machine are."`
	Limits         Limits   `toml:"limits" doc:"What one owner may use at once."`
	TLS            TLS      `toml:"tls" doc:"Certificate."`
	Auth           Auth     `toml:"auth" doc:"Credentials that need no pairing."`
	Remote         Remote   `toml:"remote" doc:"Gateway that grapnel acp and the bridge connect to."`
}

// Limits is [gateway.limits].
type Limits struct {
	Connections       int   `toml:"connections" min:"0" doc:"Connections of one owner at once; 0 is unlimited."`
	RequestsPerMinute int   `toml:"requests_per_minute" min:"0" doc:"JSON-RPC messages of one owner per minute; 0 is unlimited."`
	BufferedBytes     int64 `toml:"buffered_bytes" min:"65536" doc:"Bytes that wait for a slow client, per connection over HTTP."`
}

// TLS is [gateway].tls.
type TLS struct {
	CertFile string `toml:"cert_file" doc:"Certificate chain in PEM."`
	KeyFile  string `toml:"key_file" doc:"Private key in PEM."`

	ACMEDomains   []string `toml:"acme_domains" doc:"Names to get a certificate for from an authority that speaks ACME, whose terms that accepts; in place of the files."`
	ACMEEmail     string   `toml:"acme_email" doc:"Where the authority may write to."`
	ACMEDirectory string   `toml:"acme_directory" doc:"URL of the authority's directory; Let's Encrypt when absent."`
}

// Auth is [gateway].auth.
type Auth struct {
	Token    secret.Ref `toml:"token" doc:"Bearer token clients may use."`
	Password secret.Ref `toml:"password" doc:"Password clients may use."`
}

// Remote is [gateway.remote].
type Remote struct {
	URL      string     `toml:"url" doc:"Address of the gateway, ws or wss."`
	Token    secret.Ref `toml:"token" doc:"Token sent to it."`
	Password secret.Ref `toml:"password" doc:"Password sent to it."`
}

// Session is the [session] section.
type Session struct {
	ThreadBindings ThreadBindings `toml:"thread_bindings" doc:"Threads bound to sessions; a channel may override it."`
}

// ThreadBindings is [session.thread_bindings].
type ThreadBindings struct {
	SpawnSessions bool `toml:"spawn_sessions" doc:"Whether a spawn may bind a thread."`
	IdleMinutes   int  `toml:"idle_minutes" min:"0" doc:"Idle minutes after which a binding ends; 0 is never."`
	MaxAgeMinutes int  `toml:"max_age_minutes" min:"0" doc:"Minutes after which a binding ends; 0 is never."`
}

// ThreadBindingsOverride is a channel's thread_bindings: nil fields are inherited.
type ThreadBindingsOverride struct {
	SpawnSessions *bool `toml:"spawn_sessions" doc:"Overrides session.thread_bindings.spawn_sessions."`
	IdleMinutes   *int  `toml:"idle_minutes" min:"0" doc:"Overrides session.thread_bindings.idle_minutes."`
	MaxAgeMinutes *int  `toml:"max_age_minutes" min:"0" doc:"Overrides session.thread_bindings.max_age_minutes."`
}

// Binding is one [[bindings]] entry.
type Binding struct {
	Type         string            `toml:"type" enum:"acp" doc:"Kind of binding; acp when absent."`
	Agent        string            `toml:"agent" doc:"Harness id or agent alias."`
	Channel      string            `toml:"channel" enum:"discord|telegram|terminal" doc:"Chat surface."`
	Account      string            `toml:"account" doc:"Account of the channel; default when absent."`
	Conversation string            `toml:"conversation" doc:"Conversation id on the channel."`
	Match        map[string]string `toml:"match" doc:"Further properties the conversation must have."`
	Mode         string            `toml:"mode" enum:"persistent|oneshot" doc:"persistent when absent."`
	Cwd          string            `toml:"cwd" doc:"Working directory."`
	Label        string            `toml:"label" doc:"Label of the session."`
}

// Channels is the [channels] section.
type Channels struct {
	Discord  Channel `toml:"discord" doc:"Discord."`
	Telegram Channel `toml:"telegram" doc:"Telegram."`
}

// Channel is one [channels.<name>] section.
type Channel struct {
	Token          secret.Ref             `toml:"token" doc:"Bot token."`
	AllowedUsers   []string               `toml:"allowed_users" doc:"Ids of users who may talk to it."`
	Approvers      []string               `toml:"approvers" doc:"Ids of users who may answer permission requests."`
	Admins         []string               `toml:"admins" doc:"Ids of users who may manage other people's sessions."`
	ThreadBindings ThreadBindingsOverride `toml:"thread_bindings" doc:"Thread bindings of this channel where they differ."`
	Accounts       map[string]Account     `toml:"accounts" doc:"Further bots by name."`
}

// Account is [channels.<name>].accounts.<account>.
type Account struct {
	Token secret.Ref `toml:"token" doc:"Bot token."`
}

// Tools is the [tools] section.
type Tools struct {
	Sessions SessionTools `toml:"sessions" doc:"The tools that see other sessions."`
	WebFetch WebFetch     `toml:"web_fetch" doc:"The tool that fetches public web pages."`
}

// WebFetch is [tools.web_fetch].
type WebFetch struct {
	Enabled bool `toml:"enabled" doc:"Whether agents have the tool web_fetch; autonomy.network then says whether it asks."`
}

// SessionTools is [tools.sessions].
type SessionTools struct {
	Visibility string `toml:"visibility" enum:"own|tree|agent|all" doc:"Which sessions an agent's tools may see."`
}

// Owner is one [owners.<name>] section.
type Owner struct {
	Identities []string `toml:"identities" doc:"Chat identities of the owner, such as discord:123."`
	Ceiling    string   `toml:"ceiling" enum:"readonly|supervised|full" doc:"Highest autonomy level its sessions may have."`
}

// Hooks is the [hooks] section.
type Hooks struct {
	BeforeToolCall    []string `toml:"before_tool_call" doc:"Runs before a tool call and may block it."`
	AfterToolCall     []string `toml:"after_tool_call" doc:"Runs after a tool call."`
	PermissionRequest []string `toml:"permission_request" doc:"May answer a permission request."`
	BeforeFinalize    []string `toml:"before_finalize" doc:"Runs before a turn ends and may ask for one more pass."`
	TimeoutSecs       int      `toml:"timeout_secs" min:"1" doc:"Seconds one of them may take."`
}
