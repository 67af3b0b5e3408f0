package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// buildVersion is what the version command prints.
type buildVersion struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit,omitzero"` // of the source, when the build knows it
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func (i *invocation) version() buildVersion {
	v := buildVersion{Name: "grapnel", Version: i.env.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	if v.Version == "" || v.Version == "(devel)" {
		v.Version = "dev"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Commit = s.Value
		}
	}
	return v
}

func (v buildVersion) String() string {
	commit := ""
	if v.Commit != "" {
		commit = ", commit " + v.Commit[:min(len(v.Commit), 12)]
	}
	return fmt.Sprintf("%s %s (%s, %s/%s%s)", v.Name, v.Version, v.Go, v.OS, v.Arch, commit)
}

func (i *invocation) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(),
		RunE: i.action(func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(i.env.Stdout, i.version())
			}
			_, err := fmt.Fprintln(i.env.Stdout, i.version())
			return err
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
