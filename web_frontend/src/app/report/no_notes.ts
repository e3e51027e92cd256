// Stands for the notes in a report (vite.report.config.ts), which never asks for them.
export default undefined;
