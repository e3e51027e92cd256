// What the shell fetches once a profile is on show: the notes and their face in the bar.
export { NoteBook } from './notes.svelte';
export { default as NotesFace } from './NotesFace.svelte';
