// The kinds of component: the list of the document that holds each, and what people call them.
export const LISTS = { prompt: "prompt", skill: "skills", tool: "tools", hook: "hooks", example: "examples" };
export const KINDS = Object.keys(LISTS);
export const KIND_TITLES = { prompt: "Prompt sections", skill: "Skills", tool: "Tools", hook: "Hooks", example: "Examples", runtime: "Runtime" };
export const KIND_WORDS = { prompt: "Prompt section", skill: "Skill", tool: "Tool", hook: "Hook", example: "Example", runtime: "Runtime settings" };
