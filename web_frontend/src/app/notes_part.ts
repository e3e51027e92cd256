// What the shell fetches once a profile is on show, or a token is wanted.
export { NoteBook } from './notes.svelte';
export { default as NotesFace } from './NotesFace.svelte';
export { default as SignIn } from './SignIn.svelte';
