package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

func newSessionExportCommand(a *app, f *sessionFlags) *cobra.Command {
	var target string
	var force bool
	cmd := &cobra.Command{
		Use: "export NAME -o TARGET", Short: "Write all files of a session into a folder or an archive",
		Long: `export writes the files of a session into TARGET: an archive if its name ends in .tar.gz, .tgz or .zip, or else a
folder. "-" is the standard output, which gets a .tar.gz. The files are a program's: into a folder that holds something
already no file is written that would replace one or has a hidden name, unless forced, and links there are
not followed. An archive replaces one of the same name.`,
		Args: sessionArgs(1, 1, "the name of one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if target == "" {
				return usagef("--output: is empty: want a folder, or a file that ends in .tar.gz or .zip")
			}
			return a.withSessions(cmd, func(ctx context.Context, _ *settings, store *workspace.Store) error {
				session := f.named(args[0])
				files, err := store.Files(ctx, session)
				if err != nil {
					return err
				}
				if err := a.export(files, target, force); err != nil {
					return fmt.Errorf("export: %w", err)
				}
				say(a.stderr, "%d files of session %s are in %s", len(files), session.Name, target)
				return nil
			})
		},
	}
	cmd.Flags().StringVarP(&target, "output", "o", "", "`TARGET`: a folder, or a file that ends in .tar.gz or .zip")
	cmd.Flags().BoolVar(&force, "force", false, "let files in the folder be replaced, and have hidden names")
	return cmd
}

// foreignArchive are names that nobody gives to a folder.
var foreignArchive = regexp.MustCompile(`\.(tar|t?bz2?|t?xz|t?zst|gz|7z|rar)$`)

func (a *app) export(files []sandbox.File, target string, force bool) error {
	now := time.Now()
	switch {
	case target == "-":
		if err := writeTar(a.stdout, files, now); err != nil {
			return &cli.OutputError{Err: err}
		}
		return nil
	case strings.HasSuffix(target, ".tar.gz"), strings.HasSuffix(target, ".tgz"):
		return writeWhole(target, func(w io.Writer) error { return writeTar(w, files, now) })
	case strings.HasSuffix(target, ".zip"):
		return writeWhole(target, func(w io.Writer) error { return writeZip(w, files, now) })
	case foreignArchive.MatchString(target):
		return usagef("--output: %q looks like an archive of another kind: want a folder, or a file that ends in .tar.gz, .tgz or .zip", target)
	}
	folder := cli.Folder{Path: target, Flag: "--output", Force: force, Fresh: true}
	if err := folder.Check(); err != nil {
		return err
	}
	return folder.Write(files, nil)
}

func fileMode(file sandbox.File) fs.FileMode {
	if file.Executable {
		return 0o755
	}
	return 0o644
}

func writeTar(w io.Writer, files []sandbox.File, now time.Time) error {
	compressed := gzip.NewWriter(w)
	archive := tar.NewWriter(compressed)
	for _, file := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: file.Path, Size: int64(len(file.Data)), Mode: int64(fileMode(file)), ModTime: now}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("%q: %w", file.Path, err)
		}
		if _, err := archive.Write(file.Data); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

func writeZip(w io.Writer, files []sandbox.File, now time.Time) error {
	archive := zip.NewWriter(w)
	for _, file := range files {
		// Windows takes it for a separator, so that such a name could lead out of the folder there.
		if strings.ContainsRune(file.Path, '\\') {
			return fmt.Errorf("%q has a backslash, which no zip archive can hold: want a .tar.gz", file.Path)
		}
		header := &zip.FileHeader{Name: file.Path, Method: zip.Deflate, Modified: now}
		header.SetMode(fileMode(file))
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return fmt.Errorf("%q: %w", file.Path, err)
		}
		if _, err := entry.Write(file.Data); err != nil {
			return err
		}
	}
	return archive.Close()
}
